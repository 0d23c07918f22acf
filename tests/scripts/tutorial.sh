#!/usr/bin/env bash
# Every command of docs/learn/tutorial.md works: the fenced sh blocks, one after another in an empty folder, with the binary
# $FOVEA and the programs in $FOVEA_EXAMPLES. The server's port is replaced by one that is free.
set -euo pipefail
. "$(dirname "$0")/check.sh"
command -v curl >/dev/null || { echo "skipped: no curl (Debian: curl)"; exit 77; }

mkdir "$folder/bin" "$folder/work"
ln -s "$FOVEA" "$folder/bin/fovea"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
# A command that fails ends the script, and with it the server that it may have started.
{
  echo 'set -eu -m; trap "kill \$(jobs -p) 2>/dev/null || true" EXIT'
  awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$root/docs/learn/tutorial.md" | sed "s/\b5000\b/$port/g"
} >"$folder/commands"
[ "$(grep -c '' "$folder/commands")" -gt 30 ] || broken "docs/learn/tutorial.md has hardly any commands"

cd "$folder/work"
PATH=$folder/bin:$FOVEA_EXAMPLES:$PATH timeout 200 bash "$folder/commands" >"$folder/out" 2>"$folder/err" ||
  broken "docs/learn/tutorial.md: $(tail -n 3 "$folder/err")"
# What the page says about the results is true.
mapfile -t accuracies < <(sed -n 's/\taccuracy$//p' "$folder/out")
[ ${#accuracies[@]} = 2 ] || broken "the tutorial does not evaluate two models"
awk -v with="${accuracies[0]}" -v without="${accuracies[1]}" 'BEGIN { exit !(with >= 95 && without < with - 20) }' ||
  broken "accuracy with attention ${accuracies[0]}, without ${accuracies[1]}"
holds "$folder/out" '^1 attended most to 一 0\.'
holds "$folder/out" '"translatedText":"2021-03-03"'
holds "$folder/work/attention.json" '"attention":\[\{"kind":"cross"'
for file in model/report.html attention.html attention.svg; do [ -s "$file" ] || broken "no $file"; done
echo passed
