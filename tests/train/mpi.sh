#!/usr/bin/env bash
# mpi.sh FOVEA DATES FOLDER: trainings on one, two and four processes leave the same bytes; one goes on with another number of
# processes; a rank that is killed, hangs or finds its disk full ends the job; run, score and validation share their
# lines out.
set -euo pipefail
fovea=$1 dates=$2 dir=$3
rm -rf "$dir"
mkdir -p "$dir"
cd "$dir"
fail() { echo "$*" >&2; exit 1; }
"$dates" --count 400 --source train.source --target train.target
"$dates" --count 21 --split valid --source valid.source --target valid.target
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

# Gradients of several batches are summed once, and the log says what the sum cost.
train sums 0 1 --accumulate 3 2>sums.log
train sums2 2 1 --accumulate 3 2>sums2.log
cmp sums/model.safetensors sums2/model.safetensors || fail "accumulated gradients leave other bytes on two processes"
grep -q '"sum_share":' sums2/log.jsonl || fail "the log does not say what the sum of gradients cost"
grep -q '  sum [0-9]*%' sums2.log || fail "the share of the sum is not shown"
if grep -q sum_share sums/log.jsonl; then fail "one process has no sum over processes"; fi

# Three processes for half of it, then two.
steps=6 train parts 3 1 2>parts.log
train parts 2 1 --resume 2>>parts.log
cmp one/model.safetensors parts/model.safetensors || fail "resumed with another number of processes: other bytes"

"$fovea" score --model one --source valid.source --target valid.target >alone.out
mpirun -n 2 "$fovea" score --model one --source valid.source --target valid.target >shared.out
cmp alone.out shared.out || fail "score gives other lines on two processes"

# Lines of fovea run, in their order, with everything else that is written.
for i in 1 2 3; do cat valid.source; echo; done >lines
outputs() { echo --attention "$1.jsonl" --alignments "$1.align" --scores --n-best 2 --beam 3; }
# shellcheck disable=SC2046
"$fovea" run --model one $(outputs alone) <lines >alone.out
for n in 2 3; do
  # shellcheck disable=SC2046
  mpirun -n $n "$fovea" run --model one $(outputs shared) <lines >shared.out
  cmp alone.out shared.out && cmp alone.jsonl shared.jsonl && cmp alone.align shared.align ||
    fail "run gives other lines on $n processes"
done
"$fovea" run --model one --sample --seed 3 <lines >alone.out
mpirun -n 2 "$fovea" run --model one --sample --seed 3 <lines >shared.out
cmp alone.out shared.out || fail "sampling gives other lines on two processes"
mpirun -n 2 "$fovea" run --model one </dev/null >shared.out || fail "no lines at all are an error"
[ ! -s shared.out ] || fail "no lines give lines"
printf 'a\n\xff\n' >wrong
if mpirun -n 2 "$fovea" run --model one <wrong >shared.out 2>wrong.log; then fail "what is not UTF-8 was accepted"; fi
grep -q '^fovea: rank 0: standard input: line 2 is not UTF-8' wrong.log || { cat wrong.log >&2; fail "the line is not named"; }
# evaluate is rank 0's alone, and printed once.
[ "$(mpirun -n 2 "$fovea" evaluate --hypothesis valid.target --reference valid.target | cut -f 1)" = 100.00 ] ||
  fail "evaluate is not printed once"

# Every task: a classifier whose table of n-grams is trained by rows, a conversation, and pictures.
for part in train valid; do
  cut -c 1-2 $part.target >$part.century
  paste $part.source $part.source >$part.turns
done
tasks() { # FOLDER PROCESSES TASK
  local launcher=() kind=()
  [ "$2" = 0 ] || launcher=(mpirun -n "$2")
  case $3 in
    classify)
      kind=(--source train.source --target train.century --valid-source valid.source --valid-target valid.century
        --task classify --encoder none --dim 16 --word-ngrams 2 --char-ngrams 1-3 --buckets 2000 --pooling hops --tokenizer word) ;;
    chat)
      kind=(--source train.turns --target train.target --valid-source valid.turns --valid-target valid.target
        --task chat --preset rnn-bahdanau --dim 16 --embedding 16 --tokenizer char) ;;
    caption)
      kind=(--source train.pictures --target train.colours --valid-source train.pictures --valid-target train.colours
        --task caption --preset rnn-bahdanau --dim 16 --picture-size 64 --tokenizer word) ;;
  esac
  "${launcher[@]}" "$fovea" train --model "$1" "${kind[@]}" --batch-tokens 200 --max-steps 4 --checkpoint-every 2 --replicas 2 \
    --seed 5 --threads 1
}
python3 - <<'PICTURES'
import struct, zlib
def png(name, rgb):
    def part(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes(rgb) * 64 for _ in range(64))
    with open(name, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0))
                  + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b""))
with open("train.pictures", "w") as places, open("train.colours", "w") as colours:
    for i in range(12):
        colour = ("red", "green", "blue")[i % 3]
        png(f"{i}.png", [200 + i if c == i % 3 else 2 * i for c in range(3)])
        places.write(f"{i}.png\n")
        colours.write(f"all {colour} number {i % 4}\n")
PICTURES
for task in classify chat caption; do
  tasks "$task.one" 0 $task >"$task.log" 2>&1 || { cat "$task.log" >&2; fail "$task failed"; }
  tasks "$task.two" 2 $task >"$task.log" 2>&1 || { cat "$task.log" >&2; fail "$task failed on two processes"; }
  cmp "$task.one/model.safetensors" "$task.two/model.safetensors" || fail "$task leaves other bytes on two processes"
done

# Errors: one line that names the rank; too few copies of the model.
if replicas=1 train few 2 1 2>few.log; then fail "one replica on two processes was accepted"; fi
[ "$(grep -c '^fovea: ' few.log)" = 1 ] || { cat few.log >&2; fail "the error is not one line"; }
grep -q '^fovea: rank 0: --replicas: ' few.log || { cat few.log >&2; fail "the error does not name rank and option"; }

# A rank that hangs ends the job after the time-out, with one line that names it.
(steps=100000 train hangs 2 1 --rank-timeout 3 2>hangs.log) &
job=$!
for _ in $(seq 300); do [ -e hangs/checkpoint.safetensors ] && break; sleep 0.1; done
victim=$(pgrep -n -f "train --model hangs") || fail "no process to stop"
kill -STOP "$victim"
for _ in $(seq 600); do kill -0 $job 2>/dev/null || break; sleep 0.1; done
if kill -0 $job 2>/dev/null; then kill -9 "$victim" $job; fail "the job waits for a rank that hangs"; fi
if wait $job; then fail "a job with a rank that hangs ended with 0"; fi
kill -9 "$victim" 2>/dev/null || true
[ "$(grep -c '^fovea: ' hangs.log)" = 1 ] || { cat hangs.log >&2; fail "not one line about a rank that hangs"; }
grep -q '^fovea: rank [01]: no answer from rank [01] for [0-9]* s' hangs.log || { cat hangs.log >&2; fail "the rank that hangs is not named"; }

# A full disk ends it too, and it goes on, with another number of processes, once there is room.
export -f train
export fovea replicas=4
how=-m
[ "$(id -u)" = 0 ] || how=-rm
full=", and so does a full disk"
if unshare $how true 2>/dev/null; then
  steps=12 unshare $how bash -euo pipefail -c '
    mkdir -p disk && mount -t tmpfs -o size=400k none disk
    if train disk/m 2 1 2>full.log; then exit 3; fi
    mount -o remount,size=9m disk
    train disk/m 4 1 --resume 2>full.more
    cp disk/m/model.safetensors full.safetensors' || { cat full.log >&2; fail "a full disk was not noticed, or its end was not repaired"; }
  [ "$(grep -c '^fovea: ' full.log)" = 1 ] || { cat full.log >&2; fail "not one line about a full disk"; }
  grep -q '^fovea: rank 0: disk/m.*No space left on device' full.log || { cat full.log >&2; fail "rank and file of a full disk are not named"; }
  cmp one/model.safetensors full.safetensors || fail "after a full disk: other bytes"
else
  full="; no mount namespaces here (a chroot?): a full disk was not tried"
fi

# A rank that is killed ends the job.
(steps=100000 train killed 2 1 2>killed.log) &
job=$!
for _ in $(seq 200); do [ -e killed/checkpoint.safetensors ] && break; sleep 0.1; done
victim=$(pgrep -n -f "train --model killed") || fail "no process to kill"
kill -9 "$victim"
for _ in $(seq 300); do kill -0 $job 2>/dev/null || break; sleep 0.1; done
if kill -0 $job 2>/dev/null; then kill $job; fail "the job went on without its rank"; fi
if wait $job; then fail "a job that lost a rank ended with 0"; fi
echo "same bytes on 1, 2 and 4 processes; a rank that is killed or hangs ends the job$full"
