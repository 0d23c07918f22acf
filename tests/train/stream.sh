#!/usr/bin/env bash
# stream.sh FOVEA DATES FOLDER: a training whose text is streamed. Where the text fits, the same bytes as in memory; where it
# does not, less memory, the same bytes after an interruption and on two processes, and every line in every epoch.
set -euo pipefail
fovea=$1 dates=$2 dir=$3
rm -rf "$dir"
mkdir -p "$dir"
cd "$dir"
fail() { echo "$*" >&2; exit 1; }
"$dates" --count 3000 --source train.source --target train.target
"$dates" --count 20 --split valid --source valid.source --target valid.target
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

train() { # FOLDER STEPS [options]
  "${launcher[@]}" "$fovea" train --model "$1" --source "${text:-train}.source" --target "${text:-train}.target" \
    --valid-source valid.source --valid-target valid.target --preset transformer-tiny --layers 1 --dim 16 --ffn 16 --heads 2 \
    --tokenizer char --batch-tokens 400 --warmup 20 --max-steps "$2" --checkpoint-every 1000 --replicas 2 --threads 1 "${@:3}"
}
launcher=()

# All of it in one window of memory, in several shards.
train memory 40 2>memory.log
train one 40 --stream one.shards --stream-memory 16 2>one.log
cmp memory/model.safetensors one/model.safetensors || fail "a text that fits has other bytes when it is streamed"
diff <(grep -v '^step\|left\|^done' memory.log) <(grep -v '^step\|left\|^done' one.log) || fail "other notes when the text is streamed"
if train again 40 --stream one.shards --stream-memory 16 --resume 2>again.log; then :; else cat again.log >&2; fail "a second training in the shards' folder"; fi
cmp memory/model.safetensors again/model.safetensors || fail "shards made again have other bytes"

# Many windows. 120,000 lines have 4 MB of text and, of characters, 12 MB of ids.
for part in source target; do for _ in $(seq 40); do cat train.$part; done >large.$part; done
text=large
measured() { # COMMAND…: its peak of memory in MB goes to peak
  python3 - "$@" <<'PYTHON' >peak || { cat measured.log >&2; fail "$* failed"; }
import resource, subprocess, sys
with open("measured.log", "w") as log:
    code = subprocess.call(sys.argv[1:], stderr=log)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
sys.exit(code)
PYTHON
}
export -f train
export fovea text
declare -a launcher
measured bash -c 'launcher=(); train large.memory 30'
whole=$(cat peak)
measured bash -c 'launcher=(); train large.stream 30 --stream shards --stream-memory 1'
part=$(cat peak)
echo "peak memory: $whole MB with the text in memory, $part MB streamed"
[ "$part" -lt $((whole - 20)) ] || fail "streaming takes as much memory"
[ "$(ls shards/*.shard | wc -l)" -gt 40 ] || fail "there are few shards"

# Interrupted and gone on with, in the middle of a window; the shards are used again. And on two processes.
before=$(stat -c %y shards/000003.shard)
cp -r large.stream kept
train parts 17 --stream shards --stream-memory 1 2>parts.log
[ "$(stat -c %y shards/000003.shard)" != "$before" ] || fail "a new training used shards it did not make"
before=$(stat -c %y shards/000003.shard)
train parts 30 --stream shards --stream-memory 1 --resume 2>>parts.log
[ "$(stat -c %y shards/000003.shard)" = "$before" ] || fail "--resume made the shards again"
cmp kept/model.safetensors parts/model.safetensors || fail "resumed: other bytes"
launcher=(mpirun -n 2)
train two 30 --stream two.shards --stream-memory 1 2>two.log || { cat two.log >&2; fail "streaming on two processes"; }
cmp kept/model.safetensors two/model.safetensors || fail "streamed on two processes: other bytes"
for shard in shards/*.shard; do cmp "$shard" "two.${shard}" || fail "shards differ"; done
launcher=()

# What was damaged is named; what does not fit together is refused.
refused() { # CODE TEXT COMMAND…
  local code=0
  "${@:3}" 2>refused.log || code=$?
  [ $code = "$1" ] && [ "$(grep -c '^fovea: ' refused.log)" = 1 ] && grep -q -- "$2" refused.log ||
    { cat refused.log >&2; fail "not refused with code $1 and \"$2\""; }
}
printf x | dd of=shards/000000.shard conv=notrunc status=none
refused 1 'shards/000000.shard: damaged' train parts 40 --stream shards --stream-memory 1 --resume
head -n 100 large.target >short.target
cp large.source short.source
text=short refused 1 'short.source has 120000 lines but short.target has 100' train unequal 40 --stream shards
refused 2 '^fovea: --stream-memory: must be at least 1, is 0' train small 40 --stream shards --stream-memory 0
refused 2 '^fovea: --stream: ' train labels 40 --stream shards --task classify
files=(--source train.source --target train.target)
valid=(--valid-source valid.source --valid-target valid.target)
refused 2 '^fovea: --stream: needs valid-source' "$fovea" train --model x "${files[@]}" --stream shards
refused 2 '^fovea: --subword-sampling: ' "$fovea" train --model x "${files[@]}" "${valid[@]}" --stream shards --subword-sampling 0.1
paste train.source train.target >train.tsv
refused 2 '^fovea: --stream: ' "$fovea" train --model x --pairs train.tsv "${valid[@]}" --stream shards
echo "streamed: the same bytes, $part instead of $whole MB"
