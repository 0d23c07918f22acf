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
if [ ! -f "$build/topics/model.safetensors" ]; then
  for word in soup bread rice; do printf '__label__food there is %s today\n__label__food we like %s\n' $word $word; done >"$build/topics.txt"
  for word in rain snow wind; do printf '__label__weather there is %s today\n__label__weather we fear %s\n' $word $word; done >>"$build/topics.txt"
  rm -rf "$build/topics.new"
  "$fovea" train --task classify --model "$build/topics.new" --source "$build/topics.txt" --valid-source "$build/topics.txt" \
    --encoder none --dim 32 --pooling context --tokenizer word --dropout 0 --max-steps 200 --learning-rate 0.05 --warmup 5 >"$build/topics.log"
  mv "$build/topics.new" "$build/topics"
fi
if [ ! -f "$build/talk/model.safetensors" ]; then
  for i in $(seq 40); do printf 'hello\nhello\thi , who are you ?\tanna\nhello\thi , who are you ?\tbob\n'; done >"$build/talk.source"
  for i in $(seq 40); do printf 'hi , who are you ?\nnice to meet you anna\nnice to meet you bob\n'; done >"$build/talk.target"
  rm -rf "$build/talk.new"
  "$fovea" train --task chat --model "$build/talk.new" --source "$build/talk.source" --target "$build/talk.target" \
    --valid-source "$build/talk.source" --valid-target "$build/talk.target" --preset rnn-bahdanau --dim 32 --embedding 32 \
    --tokenizer word --dropout 0 --max-steps 150 --learning-rate 0.01 --warmup 5 >"$build/talk.log"
  mv "$build/talk.new" "$build/talk"
fi
