#!/usr/bin/env bash
# The commands of docs/how-to/classify.md work: its fenced sh blocks in an empty folder, with the binary $FOVEA.
set -euo pipefail
. "$(dirname "$0")/check.sh"

mkdir "$folder/bin" "$folder/work"
ln -s "$FOVEA" "$folder/bin/fovea"
{
  echo 'set -eu'
  awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$root/docs/how-to/classify.md"
} >"$folder/commands"
[ "$(grep -c '' "$folder/commands")" -gt 15 ] || broken "docs/how-to/classify.md has hardly any commands"
cd "$folder/work"
PATH=$folder/bin:$PATH timeout 100 bash "$folder/commands" >"$folder/out" 2>"$folder/err" ||
  broken "docs/how-to/classify.md: $(tail -n 3 "$folder/err")"
holds "$folder/out" '^weather	0\.[5-9]'
holds "$folder/out" 'accuracy'
holds words.jsonl '"labels":\[\{"label":"[a-z]*","probability":[0-9.]*,"saliency":\['
cmp -s output.txt labels.txt || [ "$(diff output.txt labels.txt | grep -c '^<')" -le 1 ] || broken "more than one line is wrong"
for file in words.html words.svg; do [ -s "$file" ] || broken "no $file"; done
echo passed
