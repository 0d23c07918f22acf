#!/usr/bin/env bash
# killed.sh FOVEA FOLDER [classify]: kill -9 at any moment of training leaves a folder that goes on with --resume, and that runs as
# soon as it holds a model. What training ends with is, byte for byte, what it would have ended with undisturbed.
set -euo pipefail
fovea=$1
dir=$2
rm -rf "$dir"
mkdir -p "$dir"
cd "$dir"
"$fovea" dates --count 600 --source train.source --target train.target
"$fovea" dates --count 20 --split valid --source valid.source --target valid.target

kind=(--preset rnn-bahdanau --dim 32 --embedding 16)
if [ "${3:-}" = classify ]; then # a date's century is its label
  for part in train valid; do cut -c 1-2 $part.target >$part.labels && mv $part.labels $part.target; done
  kind=(--task classify --encoder none --dim 32 --word-ngrams 2 --char-ngrams 1-3 --buckets 5000 --pooling hops)
fi
train() {
  exec "$fovea" train --model "$1" --source train.source --target train.target --valid-source valid.source \
    --valid-target valid.target "${kind[@]}" --tokenizer char --batch-tokens 200 \
    --max-steps 60 --checkpoint-every 3 --average 2 --threads 2 --seed 5 "${@:2}"
}

begin=$(date +%s%N)
(train whole) >whole.log 2>&1
took=$((($(date +%s%N) - begin) / 1000000)) # milliseconds of an undisturbed run

kills=0
ran=0
for i in $(seq 1 12); do
  # exec: the process that is killed is the training itself. From the start on in uneven steps, so that start, steps,
  # checkpoints and the end are all met.
  (train killed --resume) >killed.log 2>&1 &
  pid=$!
  sleep "$(printf '%d.%03d' $((took * i / 40 / 1000)) $((took * i / 40 % 1000)))"
  if kill -9 "$pid" 2>/dev/null; then kills=$((kills + 1)); fi
  wait "$pid" 2>/dev/null || true
  if [ -e killed/model.safetensors ]; then
    echo '3 March 2021' | "$fovea" run --model killed >run.out || { echo "the model does not run after kill $i" >&2; exit 1; }
    ran=$((ran + 1))
  fi
done
[ "$kills" -ge 5 ] || { echo "only $kills of 12 trainings could be killed" >&2; exit 1; }
(train killed --resume) >killed.log 2>&1 || { cat killed.log >&2; exit 1; }
cmp whole/model.safetensors killed/model.safetensors
left=$(find killed -name '.*.tmp')
[ -z "$left" ] || { echo "killed trainings have left $left" >&2; exit 1; }
echo "$kills kills; the model ran after $ran of them; the end is the same"
