#!/bin/sh
# run.sh CASE BUILD FOVEA: one case in the browser; 77 where the set-up was skipped.
set -eu
[ -f "$2/node_modules/.installed.json" ] && [ -f "$2/model/config.json" ] || { echo "skipped: browser.setup did not finish here"; exit 77; }
command -v chromium >/dev/null || { echo "skipped: no chromium (Debian: chromium)"; exit 77; }
NODE_PATH="$2/node_modules" exec node "$(dirname "$0")/harness.js" "$1" "$2" "$3"
