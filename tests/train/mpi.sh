#!/usr/bin/env bash
# mpi.sh FOVEA FOLDER: trainings on one, two and four processes leave the same bytes; one goes on with another number of
# processes; a killed rank ends the job; run, score and validation share their lines out.
set -euo pipefail
fovea=$1
dir=$2
rm -rf "$dir"
mkdir -p "$dir"
cd "$dir"
fail() { echo "$*" >&2; exit 1; }
"$fovea" dates --count 400 --source train.source --target train.target
"$fovea" dates --count 21 --split valid --source valid.source --target valid.target
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

steps=12
train() { # FOLDER PROCESSES THREADS [options]; no mpirun for 0 processes
  local launcher=()
  [ "$2" = 0 ] || launcher=(mpirun -n "$2")
  "${launcher[@]}" "$fovea" train --model "$1" --source train.source --target train.target --valid-source valid.source \
    --valid-target valid.target --preset transformer-tiny --layers 1 --dim 32 --ffn 32 --heads 2 --tokenizer char \
    --batch-tokens 300 --warmup 20 --max-steps "$steps" --checkpoint-every 6 --report-every 3 --validate bleu --replicas "${replicas:-4}" --seed 5 \
    --threads "$3" "${@:4}"
}

train one 0 2 2>one.log
for n in 1 2 4; do
  train "of$n" "$n" 1 2>"of$n.log" || { cat "of$n.log" >&2; fail "mpirun -n $n failed"; }
  cmp one/model.safetensors "of$n/model.safetensors" || fail "$n processes leave other bytes"
  [ "$(grep -c validation: "of$n.log")" = "$(grep -c validation: one.log)" ] || fail "validation is not reported once by $n processes"
  [ "$(wc -l <"of$n/log.jsonl")" = "$(wc -l <one/log.jsonl)" ] || fail "the log of $n processes has other lines"
done

# Three processes for half of it, then two.
steps=6 train parts 3 1 2>parts.log
train parts 2 1 --resume 2>>parts.log
cmp one/model.safetensors parts/model.safetensors || fail "resumed with another number of processes: other bytes"

"$fovea" score --model one --source valid.source --target valid.target >alone.out
mpirun -n 2 "$fovea" score --model one --source valid.source --target valid.target >shared.out
cmp alone.out shared.out || fail "score gives other lines on two processes"

# Errors: one line that names the rank; too few copies of the model.
if replicas=1 train few 2 1 2>few.log; then fail "one replica on two processes was accepted"; fi
[ "$(grep -c '^fovea: ' few.log)" = 1 ] || { cat few.log >&2; fail "the error is not one line"; }
grep -q '^fovea: rank 0: --replicas: ' few.log || { cat few.log >&2; fail "the error does not name rank and option"; }

# A rank that is killed ends the job.
(steps=100000 train killed 2 1 2>killed.log) &
job=$!
for _ in $(seq 200); do [ -e killed/checkpoint.safetensors ] && break; sleep 0.1; done
victim=$(pgrep -n -f "train --model killed") || fail "no process to kill"
kill -9 "$victim"
for _ in $(seq 300); do kill -0 $job 2>/dev/null || break; sleep 0.1; done
if kill -0 $job 2>/dev/null; then kill $job; fail "the job went on without its rank"; fi
if wait $job; then fail "a job that lost a rank ended with 0"; fi
echo "same bytes on 1, 2 and 4 processes; a killed rank ends the job"
