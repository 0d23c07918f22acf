#!/bin/sh
# setup.sh SOURCE BUILD FOVEA: what the tests of the page need, in BUILD: playwright-core from npm, and a small model that
# is trained here in some seconds. Does nothing that is done already. Ends with 77 (skipped) where something is missing
# that this machine cannot get.
set -eu
source=$1 build=$2 fovea=$3
skip() { echo "skipped: $*"; exit 77; }
command -v node >/dev/null || skip "no node (Debian: nodejs)"
command -v npm >/dev/null || skip "no npm (Debian: npm)"
command -v chromium >/dev/null || skip "no chromium (Debian: chromium)"
mkdir -p "$build"

if ! cmp -s "$source/package.json" "$build/node_modules/.installed.json"; then
  cp "$source/package.json" "$build/package.json"
  if ! (cd "$build" && npm install --no-audit --no-fund --no-package-lock --ignore-scripts --fetch-retries=1 --fetch-timeout=60000 --loglevel=error) >"$build/npm.log" 2>&1; then
    cat "$build/npm.log"
    if grep -q 'ETARGET\|E404' "$build/npm.log"; then exit 1; fi  # a version that does not exist is our mistake
    skip "npm could not install playwright-core (no network?)"
  fi
  cp "$source/package.json" "$build/node_modules/.installed.json"
fi

if [ ! -f "$build/model/model.safetensors" ] || [ ! -f "$build/model/config.json" ]; then
  node "$source/corpus.js" "$build"
  rm -rf "$build/model.new"
  "$fovea" train --model "$build/model.new" --source "$build/train.en" --target "$build/train.de" \
    --valid-source "$build/valid.en" --valid-target "$build/valid.de" --languages en-de \
    --arch transformer --layers 2 --dim 64 --ffn 128 --heads 4 --tokenizer sentencepiece --bpe --vocab 110 \
    --batch-tokens 1500 --max-steps 300 --learning-rate 0.004 --warmup 40 --dropout 0 --label-smoothing 0 --seed 7 >"$build/train.log"
  rm -rf "$build/model"
  mv "$build/model.new" "$build/model"
fi
