#!/usr/bin/env bash
# The generated reference has every subcommand and option of $FOVEA, and every public name of the Python module.
set -euo pipefail
. "$(dirname "$0")/check.sh"

cp -r "$root/docs" "$folder"
works /usr/bin/env python3 "$root/docs/site/reference.py" "$FOVEA" "$folder"
page=$folder/docs/reference/command-line.md
for name in $("$FOVEA" --help | grep -oE '^  [a-z]+ ' | tr -d ' '); do
  holds "$page" "^## fovea $name\$"
  for option in $("$FOVEA" "$name" --help | grep -oE '^  --[a-z0-9-]+' | tr -d ' '); do
    grep -qF -- "$option" "$page" || broken "$page lacks $name $option"
  done
done
holds "$page" '^\| `--preset '
for name in attend Translator MultiHead Adam bleu; do holds "$folder/docs/reference/python.md" "^(### )?$name(\$|\\()"; done
if grep -q 'generated' "$page"; then broken "$page still has its mark"; fi
echo passed
