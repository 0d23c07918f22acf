#!/bin/sh
# setup.sh SOURCE BUILD FOVEA: what the tests of the page need, in BUILD: playwright-core from npm, and a small model that
# is trained here in some seconds. Does nothing that is done already. Ends with 77 (skipped) where something is missing
# that this machine cannot get.
set -eu
source=$1 build=$2 fovea=$3
. "$source/../support/npm.sh"
command -v chromium >/dev/null || skip "no chromium (Debian: chromium)"
fetch_packages

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
