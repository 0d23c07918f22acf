#!/usr/bin/env bash
# script/distill on a few lines: the student learns what the teacher wrote, a second call continues, misuse is named.
set -euo pipefail
. "$(dirname "$0")/check.sh"

for part in train valid; do
  sentences 80 $((${#part} + 1)) >"$folder/$part.source"
  sed 's/\([a-z]\)\b/\1en/g' "$folder/$part.source" >"$folder/$part.target"
done
data=(--source "$folder/train.source" --target "$folder/train.target" --valid-source "$folder/valid.source"
  --valid-target "$folder/valid.target")
works "$FOVEA" train --model "$folder/teacher" "${data[@]}" --tokenizer word --preset rnn-bahdanau --dim 32 --max-steps 60
distill=("$root/script/distill" --teacher "$folder/teacher" --work "$folder/work" "${data[@]}")
student=(-- --tokenizer word --dim 32 --ffn 64 --batch-tokens 256 --max-steps)
works "${distill[@]}" --beam 2 "${student[@]}" 20
holds "$folder/out" '^teacher, greedy, BLEU'
holds "$folder/out" '^student, greedy, BLEU'
holds "$folder/work/model/config.json" '"decoder-self": *"ssru"'

# The training text is the teacher's.
"$FOVEA" run --model "$folder/teacher" --beam 2 <"$folder/train.source" >"$folder/written"
cmp -s "$folder/written" "$folder/work/teacher.target" || broken "the teacher wrote something else"
grep -v '^$' "$folder/written" | cmp -s - "$folder/work/train.target" || broken "the student learned from other lines"
[ "$(wc -l <"$folder/work/train.source")" = "$(wc -l <"$folder/work/train.target")" ] || broken "the sides differ"

# A second call goes on, without translating again.
touch -d '2000-01-01' "$folder/work/teacher.target"
works "${distill[@]}" --beam 2 "${student[@]}" 30
[ "$folder/work/teacher.target" -ot "$folder/work/train.made" ] || broken "the text was translated again"
holds "$folder/work/model/log.jsonl" '"step":30'

works "$root/script/distill" --teacher "$folder/teacher" --work "$folder/both" "${data[@]}" --both "${student[@]}" 2
[ "$(wc -l <"$folder/both/train.source")" -gt 80 ] || broken "--both did not add the given lines"

refuses 2 'was made with another teacher, text or beam' "${distill[@]}" --beam 3 "${student[@]}" 30
refuses 2 '--teacher: the folder' "$root/script/distill" --work "$folder/w" "${data[@]}"
refuses 2 'is not a model folder' "$root/script/distill" --teacher "$folder" --work "$folder/w" "${data[@]}"
refuses 2 '--beam: "x"' "${distill[@]}" --beam x
refuses 2 'has not as many lines' "${distill[@]}" --target "$FOVEA"
refuses 2 '"--student" is not one of' "${distill[@]}" --student
echo passed
