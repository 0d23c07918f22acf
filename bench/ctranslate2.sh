#!/usr/bin/env bash
# bench/ctranslate2.sh PACKAGE [PRESET…]
#
# The comparison with CTranslate2 in docs/background/performance.md. PACKAGE is the unpacked folder of the npm package
# ctranslate2 (npm pack ctranslate2 && tar xf ctranslate2-*.tgz). It is built with Ruy only, not with MKL or oneDNN. It
# needs glibc 2.38 and a Node.js of that system; NODE names it if it is not the node of the path. PRESETs are
# transformer-tiny and transformer-small by default.
#
# Both translate the same lines with the same weights in a running process, in turn; the best of ROUNDS (3) of
# SECONDS_EACH (0.7) counts. TYPES (fp32 int8) are compared. Models are trained once, two minutes each, and stay in
# build/ctranslate2. FOVEA_KERNELS=avx2 CT2_FORCE_CPU_ISA=AVX2 RUY_PATHS=0x20 disables AVX-512 on both sides.
#
# Where the C library is older, set NODE="chroot ROOT node", bind build/ctranslate2 to a folder of ROOT, name that folder
# in FOLDER_THERE, and give PACKAGE as it is named inside ROOT.
set -euo pipefail
here=$PWD
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || { echo "bench/ctranslate2.sh: the folder of the npm package ctranslate2 is missing" >&2; exit 2; }
PACKAGE=$1
[ -n "${FOLDER_THERE:-}" ] || PACKAGE=$(cd "$here" && realpath "$PACKAGE")
export PACKAGE
shift
[ $# -gt 0 ] || set -- transformer-tiny transformer-small
script/build >/dev/null
fovea=build/release/fovea folder=build/ctranslate2
mkdir -p "$folder"
cp bench/ctranslate2_speed.mjs "$folder"
# shellcheck disable=SC2046
g++ -std=c++20 -O2 -Iinclude bench/translate_speed.cpp -o "$folder/translate_speed" build/release/src/libfovea.a \
  build/release/src/libfovea_core.a -lsentencepiece_train $(pkg-config --libs sentencepiece icu-uc zlib libjpeg libpng) -pthread
[ -e "$folder/test.source" ] || python3 bench/ctranslate2.py prepare "$folder"
for preset; do
  model=$folder/$preset
  [ -e "$model/model.safetensors" ] ||
    "$fovea" train --model "$model" --overwrite --preset "$preset" --source "$folder/train.source" --target "$folder/train.target" \
      --valid-source "$folder/valid.source" --valid-target "$folder/valid.target" --tokenizer "$folder/words.model" \
      --label-smoothing 0 --batch-tokens 2048 --warmup 100 --learning-rate 0.002 --max-minutes 2 >/dev/null
  if [ ! -e "$model.ct2.int8" ]; then
    rm -rf "$model.ct2.fp32"
    "$fovea" export --model "$model" --to ctranslate2 "$model.ct2.fp32" >/dev/null
    # The binding adds the end of sequence itself.
    sed -i 's/"add_source_eos": true/"add_source_eos": false/' "$model.ct2.fp32/config.json"
    python3 bench/ctranslate2.py int8 "$model.ct2.fp32" "$model.ct2.int8"
  fi
done
exec python3 bench/ctranslate2.py compare "$folder" "$@"
