#!/usr/bin/env bash
# libraries.sh PROGRAM: at run time a program that links fovea::core needs the C++ library and libc, and nothing else.
set -euo pipefail
others=$(ldd "$1" | awk '{print $1}' | sed 's|.*/||' |
  grep -vE '^(linux-vdso|libstdc\+\+|libgcc_s|libm|libc|libpthread|ld-linux-x86-64|ld-linux-aarch64)\.so(\.|$)' || true)
if [ -n "$others" ]; then
  echo "$1 also needs" $others >&2
  exit 1
fi
