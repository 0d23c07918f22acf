#!/bin/sh
# run.sh SOURCE BUILD FOVEA DATES: installs the clients from npm into BUILD, trains a small model there, and lets them ask it.
# What is done already is not done again. Ends with 77 (skipped) where npm is missing or cannot fetch.
set -eu
source=$1 build=$2 fovea=$3 dates=$4
. "$source/../support/npm.sh"
fetch_packages

if [ ! -f "$build/model/config.json" ] || [ ! -f "$build/model/model.safetensors" ]; then
  for part in train:2000 valid:100; do
    "$dates" --count "${part#*:}" --split "${part%:*}" --source "$build/${part%:*}.source" --target "$build/${part%:*}.target"
  done
  rm -rf "$build/new"
  "$fovea" train --model "$build/new" --source "$build/train.source" --target "$build/train.target" \
    --valid-source "$build/valid.source" --valid-target "$build/valid.target" --languages dates-iso \
    --preset rnn-bahdanau --dim 48 --embedding 32 --tokenizer char --batch-tokens 1000 --learning-rate 5e-3 --warmup 20 \
    --max-steps 80 >"$build/train.log"
  rm -rf "$build/model"
  mv "$build/new" "$build/model"
fi
cp "$source/clients.mjs" "$build/"  # where node looks for node_modules
exec node "$build/clients.mjs" "$fovea" "$build/model"
