#!/bin/sh
# model.sh FOVEA DATES FOLDER: trains a model of dates for a few steps and leaves it in FOLDER.
set -eu
fovea=$1 dates=$2 folder=$3
rm -rf "$folder" "$folder.text"
mkdir -p "$folder.text"
for part in train:400 valid:20; do
  "$dates" --count "${part#*:}" --split "${part%:*}" --source "$folder.text/${part%:*}.source" --target "$folder.text/${part%:*}.target"
done
"$fovea" train --model "$folder" --source "$folder.text/train.source" --target "$folder.text/train.target" \
  --valid-source "$folder.text/valid.source" --valid-target "$folder.text/valid.target" \
  --preset rnn-bahdanau --dim 32 --tokenizer char --max-steps 20 --checkpoint-every 20 2>/dev/null
