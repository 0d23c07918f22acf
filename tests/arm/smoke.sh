#!/usr/bin/env bash
# Cross-compiles a few NEON kernels with smoke.cpp into the folder $1 and runs the program under qemu-user. The whole is
# script/test-arm.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
compiler=aarch64-linux-gnu-g++ emulator=qemu-aarch64
for tool in $compiler $emulator; do
  command -v $tool >/dev/null || { echo "skipped: no $tool (Debian: g++-aarch64-linux-gnu, qemu-user)"; exit 77; }
done
mkdir -p "$1"
cd "$root"
flags=(-std=c++20 -O2 -Wall -Wextra -Wno-psabi -Isrc -Iinclude -DNDEBUG -ffp-contract=off)
simd=("${flags[@]:0:8}" -fno-exceptions -fno-rtti -DFOVEA_ISA=neon -DFOVEA_ISA_neon -DTOOLCHAIN_MISS_SYS_AUXV_H)
objects=()
# compile FOLDER NAME SOURCE FLAG…
compile() {
  local object=$1/$2.o source=$3
  shift 3
  $(command -v ccache || true) "$compiler" "$@" -c "$source" -o "$object"
  objects+=("$object")
}
for family in gemm math random attention_step; do
  compile "$1" "neon_$family" "src/kernels/simd/$family.cpp" "${simd[@]}"
  compile "$1" "generic_$family" "src/kernels/generic/$family.cpp" "${flags[@]}"
done
compile "$1" dotprod_int8 src/kernels/dotprod/int8.cpp "${flags[@]:0:8}" -fno-exceptions -fno-rtti -march=armv8.2-a+dotprod
compile "$1" generic_int8 src/kernels/generic/int8.cpp "${flags[@]}"
compile "$1" smoke tests/arm/smoke.cpp "${flags[@]}"
"$compiler" -static "${objects[@]}" -o "$1/smoke"
timeout 60 "$emulator" "$1/smoke"
