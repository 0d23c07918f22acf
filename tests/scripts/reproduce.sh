#!/usr/bin/env bash
# script/reproduce prepares, trains, decodes, scores and reports; what it cannot do is one line and exit 2.
set -euo pipefail
. "$(dirname "$0")/check.sh"
reproduce=$root/script/reproduce

works "$reproduce"
for config in "$root"/configs/*.toml; do
  name=$(basename "$config" .toml)
  [ "$name" = experiment ] || holds "$folder/out" "^ +$name "
done
refuses 2 '"multi31k" is not one of multi30k-transformer, ' "$reproduce" multi31k
refuses 2 'no data directory is given' "$reproduce" scan
refuses 2 'as DIR/scan/tasks_{train,test}' "$reproduce" scan --data "$folder"
refuses 2 '--minutes: "soon" is not a number' "$reproduce" scan --minutes soon
refuses 2 '"--beam" is not one of' "$reproduce" scan --beam 3

refuses 2 '"jumps" is not one of scan'"'"'s parts: simple jump length' "$reproduce" scan --part jumps

make_data "$folder/data"
small=(--out "$folder/results" --work "$folder/work" --threads 1)
less=(--dim 8 --embedding 8 --max-steps 3 --checkpoint-every 2)
FOVEA_DATA=$folder/data works env FOVEA_DATA="$folder/data" "$reproduce" multi30k-bahdanau "${small[@]}" -- "${less[@]}" --vocab 40
report=$folder/results/multi30k-bahdanau.md
holds "$report" '\*\*test\*\* \| \*\*[0-9.]+\*\* \| `BLEU\\\|nrefs:1.*tok:none'
holds "$report" 'Published: 39.00'
holds "$report" '^\| [0-9]+ \| 3 \| '
holds "$folder/results/multi30k-bahdanau.svg" '</svg>'
# The model it leaves scores the same by hand.
"$FOVEA" run --model "$folder/work/multi30k-bahdanau/model" --beam 5 <"$folder/work/multi30k-bahdanau/test.source" >"$folder/again"
cmp "$folder/again" "$folder/work/multi30k-bahdanau/test.output" || broken "the output differs"
# Again: nothing is trained twice, the report is the same, and the notes that were added to it stay.
printf '\n## Notes\n\nNotes of %s.\n' mine >>"$report"
cp "$report" "$folder/before"
works "$reproduce" multi30k-bahdanau --data "$folder/data" "${small[@]}" -- "${less[@]}" --vocab 40
holds "$folder/out" 'continuing from step 3'
cmp "$report" "$folder/before" || broken "the second report differs"
# What was trained with other settings is not reported as if these had made it; how long is another question.
refuses 2 'was trained with other settings (--dropout 0.4); remove it, or give another --work' \
  "$reproduce" multi30k-bahdanau --data "$folder/data" "${small[@]}" -- "${less[@]}" --vocab 40 --dropout 0.4
# Files are found from where the command is given.
(cd "$folder" && FOVEA_DATA=data works "$reproduce" multi30k-bahdanau --minutes 9 "${small[@]}" -- "${less[@]}" --vocab 40)

# Ctrl-C, which the whole process group receives: a checkpoint is written, nothing is reported, and the next call
# continues.
more=("$reproduce" multi30k-plain --data "$folder/data" "${small[@]}" -- --dim 8 --embedding 8 --vocab 40
  --checkpoint-every 100000 --report-every 10)
setsid env --default-signal=INT "${more[@]}" --max-steps 1000000 >"$folder/out" 2>"$folder/err" &
group=$!
for ((i = 0; i < 300; ++i)); do
  grep -q '^step' "$folder/out" && break
  sleep 0.1
done
kill -INT -- -"$group"
code=0
wait "$group" || code=$?
[ "$code" = 130 ] || broken "interrupted, it ended with $code"
holds "$folder/err" 'the same command continues from the last checkpoint'
holds "$folder/work/multi30k-plain/model.out" '^interrupted; --resume continues'
[ ! -e "$folder/results/multi30k-plain.md" ] || broken "half a training was reported"
last=$(sed -n 's/^step *\([0-9]*\) .*/\1/p' "$folder/work/multi30k-plain/model.out" | tail -n 1)
works "${more[@]}" --max-steps $((last + 20))
step=$(sed -n 's/^continuing from step \([0-9]*\).*/\1/p' "$folder/work/multi30k-plain/model.out")
[ "${step:-0}" -ge "$last" ] || broken "it continues from step ${step:-0}, having reported step $last"

works "$reproduce" cmudict-lstm --data "$folder/data" "${small[@]}" -- "${less[@]}"
holds "$folder/results/cmudict-lstm.md" '`WER \(words not entirely right\)`'
holds "$folder/results/cmudict-lstm.md" '`PER \(phonemes\)` \([0-9]+ errors'
holds "$folder/results/cmudict-lstm.md" '^\| \*\*test\*\* \| \*\*[0-9.]+\*\* \| `WER'
[ "$(wc -l <"$folder/work/cmudict-lstm/test.output")" = "$(sort -u "$folder/work/cmudict-lstm/test.words" | wc -l)" ] ||
  broken "a word of the test was decoded twice"

# An ensemble of five models; the first one is scored as a single model too.
works "$reproduce" trec --data "$folder/data" "${small[@]}" -- "${less[@]}"
holds "$folder/results/trec.md" '^\| \*\*test\*\*, single model \| \*\*[0-9.]+\*\* \| `'
holds "$folder/results/trec.md" '^\| test, ensemble of [0-9]+ \| [0-9.]+ \| `'
holds "$folder/results/trec.md" ', 5 times with seeds 1 to 5, then `fovea run'
[ "$(grep -cE '^\| [0-9]+ \| 3 \| ' "$folder/results/trec.md")" = 5 ] || broken "not every training is reported"
models=(--model model)
for k in 2 3 4 5; do models+=(--model "model-$k"); done
(cd "$folder/work/trec" && "$FOVEA" run "${models[@]}" <test.source >"$folder/again")
cmp "$folder/again" "$folder/work/trec/test.output" || broken "the same command writes something else"
refuses 2 '--seed: trec trains 5 models' "$reproduce" trec --data "$folder/data" "${small[@]}" -- --seed 3

works "$reproduce" sigmorphon2018 --data "$folder/data" "${small[@]}" -- "${less[@]}"
holds "$folder/work/sigmorphon2018/german/train.source" '^[a-h]( [a-h])+ \+V \+PST$'
holds "$folder/work/sigmorphon2018/german/train.target" '^g e _ '
holds "$folder/results/sigmorphon2018.md" '^\| mean \| \*\*test\*\*'

works "$reproduce" scan --data "$folder/data" --part jump --part simple "${small[@]}" -- "${less[@]}"
holds "$folder/results/scan.md" '^\| jump \| '
holds "$folder/results/scan.md" '^\| simple \| '
if grep -q '^| length' "$folder/results/scan.md"; then broken "a part that was not chosen is reported"; fi
# What a later part lacks is said before an earlier one is trained.
rm -r "$folder/work/scan" "$folder/data/scan/tasks_test_length.txt"
refuses 2 "tasks_test_length.txt is not there" "$reproduce" scan --data "$folder/data" "${small[@]}"
[ ! -e "$folder/work/scan/simple/model" ] || broken "a part was trained although another's data are missing"
# Lines without a tab are no pairs.
for part in train dev test; do echo 'HELLO  HH AH L OW' | gzip >"$folder/data/cmudict-g2p/$part.tsv.gz"; done
refuses 2 "no train lines were found" "$reproduce" cmudict-lstm --data "$folder/data" "${small[@]}"
echo passed
