#!/bin/sh
# setup.sh SOURCE BUILD FOVEA: what the tests of the page need, in BUILD: playwright-core from npm, and small models that
# are trained here in some seconds each. Does nothing that is done already. Ends with 77 (skipped) where something is
# missing that this machine cannot get.
set -eu
source=$1 build=$2 fovea=$3
. "$source/../support/npm.sh"
command -v chromium >/dev/null || skip "no chromium (Debian: chromium)"
fetch_packages

# model NAME OPTION…: a model folder BUILD/NAME, whole or not at all.
model() {
  name=$1
  shift
  [ ! -f "$build/$name/model.safetensors" ] || return 0
  rm -rf "$build/$name.new" "$build/$name"
  "$fovea" train --model "$build/$name.new" "$@" --dropout 0 --seed 7 >"$build/$name.log" 2>&1
  mv "$build/$name.new" "$build/$name"
}

# Translations, one of each architecture: pieces for the Transformer, which keeps its checkpoints, words for the others.
[ -f "$build/valid.de" ] || node "$source/corpus.js" "$build"
pairs="--source $build/train.en --target $build/train.de --valid-source $build/valid.en --valid-target $build/valid.de --languages en-de --label-smoothing 0"
model model $pairs --arch transformer --layers 2 --dim 64 --ffn 128 --heads 4 --tokenizer sentencepiece --bpe --vocab 110 \
  --batch-tokens 1500 --max-steps 300 --learning-rate 0.004 --warmup 40 --checkpoint-every 60 --keep-checkpoints 5
small="--dim 48 --tokenizer word --batch-tokens 1500 --max-steps 100 --learning-rate 0.005 --warmup 20"
model bahdanau $pairs --preset rnn-bahdanau --embedding 48 $small
model luong $pairs --preset rnn-luong --embedding 48 $small
model plain $pairs --preset rnn-plain --embedding 48 $small
model cnn $pairs --preset cnn $small
model tiny $pairs --preset transformer-tiny --tokenizer word --batch-tokens 1500 --max-steps 60 --learning-rate 0.003 --warmup 20

# One model of each other task.
if [ ! -f "$build/topics.txt" ]; then
  for word in soup bread rice; do printf '__label__food there is %s today\n__label__food we like %s\n' $word $word; done >"$build/topics.new.txt"
  for word in rain snow wind; do printf '__label__weather there is %s today\n__label__weather we fear %s\n' $word $word; done >>"$build/topics.new.txt"
  mv "$build/topics.new.txt" "$build/topics.txt"
fi
model topics --task classify --source "$build/topics.txt" --valid-source "$build/topics.txt" \
  --encoder none --dim 32 --pooling context --tokenizer word --max-steps 200 --learning-rate 0.05 --warmup 5
for i in $(seq 40); do printf 'hello\nhello\thi , who are you ?\tanna\nhello\thi , who are you ?\tbob\n'; done >"$build/talk.source"
for i in $(seq 40); do printf 'hi , who are you ?\nnice to meet you anna\nnice to meet you bob\n'; done >"$build/talk.target"
model talk --task chat --source "$build/talk.source" --target "$build/talk.target" \
  --valid-source "$build/talk.source" --valid-target "$build/talk.target" --preset rnn-bahdanau --dim 32 --embedding 32 \
  --tokenizer word --max-steps 150 --learning-rate 0.01 --warmup 5
[ -f "$build/shapes.target" ] || node "$source/pictures.js" "$build"
model shapes-model --task caption --source "$build/shapes.source" --target "$build/shapes.target" \
  --valid-source "$build/shapes.source" --valid-target "$build/shapes.target" --picture-size 48 --picture-channels 12 \
  --dim 48 --embedding 32 --tokenizer word --label-smoothing 0 --batch-tokens 300 --learning-rate 0.004 --warmup 20 --max-steps 250
