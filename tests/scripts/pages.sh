#!/usr/bin/env bash
# The first commands of summarize.md, chat.md and caption.md in docs/how-to give what the pages say: the first fenced sh
# block of each in an empty folder, with the binary $FOVEA.
set -euo pipefail
. "$(dirname "$0")/check.sh"

mkdir "$folder/bin"
ln -s "$FOVEA" "$folder/bin/fovea"

# page NAME TEXT…: the block's output holds each TEXT as a line
page() {
  local name=$1 text
  shift
  mkdir "$folder/$name"
  { echo 'set -eu'; awk '/^```sh$/ { inside = 1; next } /^```$/ && inside { exit } inside' "$root/docs/how-to/$name.md"; } >"$folder/commands"
  [ "$(grep -c '' "$folder/commands")" -gt 5 ] || broken "docs/how-to/$name.md begins with hardly any commands"
  (cd "$folder/$name" && PATH=$folder/bin:$PATH timeout 200 bash "$folder/commands") >"$folder/out" 2>"$folder/err" ||
    broken "docs/how-to/$name.md: $(tail -n 3 "$folder/err")"
  for text in "$@"; do holds "$folder/out" "$text"; done
}

page summarize '^call Quentin$'
page chat 'nice to meet you bob'
page caption '^a red circle left of a green circle$' '^100\.00	BLEU-4'
for file in html svg; do [ -s "$folder/caption/attention.$file" ] || broken "no attention.$file"; done
echo passed
