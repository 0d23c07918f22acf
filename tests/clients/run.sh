#!/bin/sh
# run.sh SOURCE BUILD FOVEA: installs the clients from npm into BUILD, trains a small model there, and lets them ask it.
# What is done already is not done again. Ends with 77 (skipped) where npm is missing or cannot fetch.
set -eu
source=$1 build=$2 fovea=$3
skip() { echo "skipped: $*"; exit 77; }
command -v node >/dev/null || skip "no node (Debian: nodejs)"
command -v npm >/dev/null || skip "no npm (Debian: npm)"
mkdir -p "$build"

if ! cmp -s "$source/package.json" "$build/node_modules/.installed.json"; then
  cp "$source/package.json" "$build/package.json"
  if ! (cd "$build" && npm install --no-audit --no-fund --no-package-lock --ignore-scripts --fetch-retries=1 --fetch-timeout=60000 --loglevel=error) >"$build/npm.log" 2>&1; then
    cat "$build/npm.log"
    if grep -q 'ETARGET\|E404' "$build/npm.log"; then exit 1; fi  # a version that does not exist is our mistake
    skip "npm could not fetch the clients (no network?)"
  fi
  cp "$source/package.json" "$build/node_modules/.installed.json"
fi

if [ ! -f "$build/model/config.json" ] || [ ! -f "$build/model/model.safetensors" ]; then
  for part in train:2000 valid:100; do
    "$fovea" dates --count "${part#*:}" --split "${part%:*}" --source "$build/${part%:*}.source" --target "$build/${part%:*}.target"
  done
  rm -rf "$build/new"
  "$fovea" train --model "$build/new" --source "$build/train.source" --target "$build/train.target" \
    --valid-source "$build/valid.source" --valid-target "$build/valid.target" --languages dates-iso \
    --preset rnn-bahdanau --dim 48 --embedding 32 --tokenizer char --batch-tokens 1000 --learning-rate 5e-3 --warmup 20 \
    --max-steps 80 >"$build/train.log"
  rm -rf "$build/model"
  mv "$build/new" "$build/model"
fi
cp "$source/clients.mjs" "$build/"  # beside node_modules, where node looks for them
exec node "$build/clients.mjs" "$fovea" "$build/model"
