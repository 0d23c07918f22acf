# What the tests of the scripts share: a temporary folder with small data sets, and checks that say what failed.
# shellcheck shell=bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset FOVEA_DATA

broken() {
  echo "FAILED: $*" >&2
  [ ! -s "$folder/err" ] || tail -n 5 "$folder/err" >&2
  exit 1
}

# refuses CODE TEXT COMMAND…: the command ends with CODE and one line of error that holds TEXT
refuses() {
  local code=$1 text=$2 got=0
  shift 2
  "$@" >"$folder/out" 2>"$folder/err" || got=$?
  [ "$got" = "$code" ] || broken "$* ended with $got instead of $code"
  [ "$(wc -l <"$folder/err")" = 1 ] || broken "$* did not fail with one line"
  grep -qF -- "$text" "$folder/err" || broken "$* did not say: $text"
}

works() { "$@" >"$folder/out" 2>"$folder/err" || broken "$* ended with $?"; }
holds() { grep -qE -- "$2" "$1" || broken "$1 does not hold: $2"; }

# Sentences of a few words, and the same with each word changed, as if translated.
sentences() { awk -v n="$1" -v seed="$2" 'BEGIN {
  split("a man dog runs sees red house and the big tree .", w, " ")
  for (i = 1; i <= n; ++i) { line = ""; for (j = 0; j < 3 + (i * seed) % 6; ++j) line = line w[1 + (i * 7 + j * seed * 3 + i * j) % 12] " "; print line "." } }'; }
words() { awk -v n="$1" -v seed="$2" 'BEGIN {
  for (i = 1; i <= n; ++i) { s = ""; for (j = 0; j < 3 + (i + seed) % 4; ++j) s = s substr("abcdefgh", 1 + (i * seed + j * 5 + i * j) % 8, 1); print s } }'; }

make_data() {
  local data=$1 part seed=1 language
  mkdir -p "$data"/{multi30k/tok,cmudict-g2p,sigmorphon2018-inflection,scan,trec}
  for part in train val test_2016_flickr; do
    sentences 60 $((++seed)) >"$data/multi30k/tok/$part.lc.norm.tok.en"
    sed 's/\([a-z]\)\b/\1en/g' "$data/multi30k/tok/$part.lc.norm.tok.en" | gzip >"$data/multi30k/tok/$part.lc.norm.tok.de.gz"
  done
  for part in train dev test; do
    words 40 $((++seed)) | tr a-z A-Z | sort -u | awk '{ p = $1; gsub(/./, "& ", p); sub(/ $/, "", p); print $1 "\t" p; if (NR % 5 == 0) print $1 "\t" p " X" }' |
      gzip >"$data/cmudict-g2p/$part.tsv.gz"
  done
  for language in german english finnish turkish; do
    for part in train-high dev test; do
      words 30 $((++seed)) | awk '{ print $1 "\tge " $1 "t\tV;PST" }' >"$data/sigmorphon2018-inflection/$language-$part"
    done
  done
  for part in simple addprim_jump length; do
    sentences 60 $((++seed)) | sed 's/^/IN: /; s/\.$/OUT: I_RUN I_JUMP/' >"$data/scan/tasks_train_$part.txt"
    cp "$data/scan/tasks_train_$part.txt" "$data/scan/tasks_test_$part.txt"
  done
  for part in train test; do
    sentences 60 $((++seed)) | awk '{ print (NR % 3 == 0 ? "HUM:ind " : "LOC:city ") $0 }' >"$data/trec/$part.txt"
  done
}
