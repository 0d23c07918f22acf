#!/usr/bin/env bash
# script/experiment trains, measures and draws on small data; what it cannot do is one line and exit 2.
set -euo pipefail
. "$(dirname "$0")/check.sh"
experiment=$root/script/experiment

works "$experiment"
for name in length scores encoders growth scale heads learned; do holds "$folder/out" "^ +$name "; done
refuses 2 '"width" is not one of length, scores' "$experiment" width
refuses 2 'no data directory is given' "$experiment" length
refuses 2 '--epochs: "0" is not a number' "$experiment" length --epochs 0

make_data "$folder/data"
small=(--data "$folder/data" --epochs 1 --out "$folder/figures" --work "$folder/work" --threads 1)
export FOVEA_EXPERIMENT="--dim 16 --embedding 16 --vocab 40 --max-steps 2"
works "$experiment" length "${small[@]}"
holds "$folder/figures/length.csv" '^[0-9]+-[0-9]+,[0-9]+,[0-9.]+,[0-9.]+$'
holds "$folder/figures/length.svg" '</svg>'
works "$experiment" learned "${small[@]}"
holds "$folder/figures/learned.csv" '^0-10%,[0-9.]+$'
rm -r "$folder/figures"
works "$experiment" learned "${small[@]}" --model "$folder/work/length/attention/model"
holds "$folder/figures/learned.svg" "</svg>"
refuses 2 "--model goes with learned" "$experiment" heads --model x
works "$experiment" heads "${small[@]}"
holds "$folder/figures/heads.csv" '^16,[0-9.]+,[0-9.]+,[0-9]+$'
echo passed
