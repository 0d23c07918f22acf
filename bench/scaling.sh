#!/usr/bin/env bash
# bench/scaling.sh [--steps N] [--rounds N] [--ranks N] [PRESET…]
#
# The table of docs/background/scaling.md: target tokens per second of `mpirun -n 1` and `-n N fovea train`, their ratio,
# and the share of the step that the sum of gradients took. 2 ranks, one thread each, --replicas N, vocabularies of
# 8,000 words, batches of 4,096 tokens. The rounds run in turn; the best of each cell counts. For an idle machine with a
# core for each rank.
set -euo pipefail
cd "$(dirname "$0")/.."
fovea=$(realpath "${FOVEA:-build/release/fovea}")
[ -x "$fovea" ] || { echo "bench/scaling.sh: $fovea cannot be run; script/build makes build/release/fovea" >&2; exit 2; }
steps=24 rounds=3 ranks=2 presets=()
while [ $# -gt 0 ]; do
  case $1 in
    --steps | --rounds | --ranks)
      [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || { echo "bench/scaling.sh: $1 needs a number" >&2; exit 2; }
      printf -v "${1#--}" %s "$2"
      shift 2 ;;
    -*) echo "bench/scaling.sh: \"$1\" is not one of --steps, --rounds, --ranks" >&2; exit 2 ;;
    *) presets+=("$1"); shift ;;
  esac
done
[ ${#presets[@]} -gt 0 ] || presets=(transformer-tiny transformer-small rnn-bahdanau)
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
awk 'BEGIN { srand(7)
  for (i = 0; i < 12000; i++) {
    n = 12 + int(4 * rand()); a = b = ""
    for (j = 0; j < n; j++) { a = a " w" int(8000 * rand() * rand()); b = b " v" int(8000 * rand() * rand()) }
    print substr(a, 2) >"source"; print substr(b, 2) >"target"
  } }'
head -n 20 source >valid.source
head -n 20 target >valid.target

run() { # PRESET RANKS: tokens a second, share of the sum in percent, weights
  mpirun -n "$2" "$fovea" train --model m --overwrite --source source --target target --valid-source valid.source \
    --valid-target valid.target --preset "$1" --tokenizer word --vocab 8000 --batch-tokens 4096 --max-steps "$steps" \
    --report-every $((steps / 2)) --checkpoint-every 100000 --replicas "$ranks" --threads 1 >log 2>&1 ||
    { cat log >&2; exit 1; }
  python3 - <<'PYTHON'
import json, re
reports = [e for e in map(json.loads, open("m/log.jsonl")) if "tokens_per_second" in e]
print(round(reports[-1]["tokens_per_second"]), round(100 * reports[-1].get("sum_share", 0)),
      re.search(r"(\d+) weights", open("log").read()).group(1))
PYTHON
}

printf '| preset | weights | 1 rank, tokens/s | %s ranks | ratio | share of the sum, %% |\n| --- | --- | --- | --- | --- | --- |\n' "$ranks"
for preset in "${presets[@]}"; do
  one=0 many=0 share=0
  for _ in $(seq "$rounds"); do
    read -r speed _ weights < <(run "$preset" 1)
    [ "$speed" -le "$one" ] || one=$speed
    read -r speed sum weights < <(run "$preset" "$ranks")
    [ "$speed" -le "$many" ] || { many=$speed; share=$sum; }
  done
  printf '| %s | %s | %s | %s | %s | %s |\n' "$preset" "$weights" "$one" "$many" \
    "$(awk "BEGIN { printf \"%.2f\", $many / $one }")" "$share"
done
