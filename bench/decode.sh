#!/usr/bin/env bash
# bench/decode.sh [--minutes M] [--seconds S] [--threads T] [PRESET…]
#
# The decoding table of docs/background/performance.md: sentences per second of `fovea bench decode` (vocabulary 10,000,
# outputs of 15 tokens, sources of 13 to 16) in fp32, f16 and int8, with and without a shortlist of 200 tokens, for
# batches of 1, 32 and 64, greedy and with a beam of 5. Each figure is followed by the fraction of its bound: a for the
# arithmetic peak, m for the rate at which weights can be read. A round measures every cell for S seconds (0.4, and
# about one second to start). Rounds are repeated while another fits into M minutes (7); the best of each cell counts.
# For an idle machine.
set -euo pipefail
cd "$(dirname "$0")/.."
fovea=${FOVEA:-build/release/fovea}
[ -x "$fovea" ] || { echo "bench/decode.sh: $fovea cannot be run; script/build makes build/release/fovea" >&2; exit 2; }
minutes=7 seconds=0.4 threads=2 presets=()
while [ $# -gt 0 ]; do
  case $1 in
    --minutes | --seconds | --threads)
      [[ ${2:-} =~ ^[0-9]*\.?[0-9]+$ ]] || { echo "bench/decode.sh: $1 needs a number" >&2; exit 2; }
      printf -v "${1#--}" %s "$2"
      shift 2 ;;
    -*) echo "bench/decode.sh: \"$1\" is not one of --minutes, --seconds, --threads" >&2; exit 2 ;;
    *) presets+=("$1"); shift ;;
  esac
done
[ ${#presets[@]} -gt 0 ] || presets=(transformer-tiny transformer-small transformer-deep rnn-bahdanau cnn)
kinds=('fp32 0' 'f16 0' 'int8 0' 'fp32 200' 'int8 200')

field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p" <<<"$2"; }

declare -A rate=() bound=() share=()
cell() {  # PRESET BATCH BEAM TYPE SHORTLIST
  local key="$*" line now options=()
  [ "$5" = 0 ] || options=(--shortlist "$5")
  line=$("$fovea" bench decode --preset "$1" --vocab 10000 --length 15 --threads "$threads" --seconds "$seconds" \
    --batch "$2" --beam "$3" --type "$4" "${options[@]}" | tail -n 1)
  now=$(field sentences_per_s "$line")
  awk -v a="$now" -v b="${rate[$key]:-0}" 'BEGIN { exit !(a > b) }' || return 0
  rate[$key]=$now
  share[$key]=$(field products_share "$line")
  if [ "$(field bound_by "$line")" = arithmetic ]; then
    bound[$key]=$(printf '%.2fa' "$(field fraction "$line")")
  else
    bound[$key]=$(printf '%.2fm' "$(field read_fraction "$line")")
  fi
}

each() {  # COMMAND… with every cell's settings behind it
  local preset beam batch kind
  for preset in "${presets[@]}"; do
    for beam in 1 5; do
      for batch in 1 32 64; do
        # shellcheck disable=SC2086
        for kind in "${kinds[@]}"; do "$@" "$preset" "$batch" "$beam" $kind; done
      done
    done
  done
}
limit=$(awk -v m="$minutes" 'BEGIN { printf "%d", m * 60 }')
rounds=0
while :; do
  began=$SECONDS
  each cell
  rounds=$((rounds + 1))
  took=$((SECONDS - began))
  [ $((SECONDS + took)) -le "$limit" ] || break
done
echo "bench/decode.sh: $rounds rounds, the last took $took s" >&2

echo "| sentences/s, ${threads} threads | fp32 | f16 | int8 | fp32, shortlist | int8, shortlist |"
echo "| --- | --- | --- | --- | --- | --- |"
show() {
  [ "$4 $5" != "${kinds[0]}" ] || printf '| %s `--batch %s --beam %s` |' "$1" "$2" "$3"
  printf ' %.0f (%s) |' "${rate[$*]}" "${bound[$*]}"
  [ "$4 $5" != "${kinds[-1]}" ] || echo
}
each show

echo
echo "| share of matrix products in the time, batch 64 | greedy fp32 | greedy int8 | beam 5 fp32 | beam 5 int8 |"
echo "| --- | --- | --- | --- | --- |"
for preset in "${presets[@]}"; do
  printf '| %s |' "$preset"
  for kind in '1 fp32' '1 int8' '5 fp32' '5 int8'; do printf ' %.2f |' "${share[$preset 64 $kind 0]}"; done
  echo
done
