#!/usr/bin/env bash
# pkgconfig.sh PROGRAM FOLDER: a program built with what pkg-config says of the .pc files in FOLDER, for each of the two
# libraries; the version is that of the headers.
set -euo pipefail
export PKG_CONFIG_PATH=$2
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build() {  # build PACKAGE SOURCE
  # shellcheck disable=SC2046,SC2086
  ${CXX:-c++} -std=c++20 ${CXXFLAGS:-} $(pkg-config --cflags "$1") "$2" -o "$work/$1" $(pkg-config --libs "$1")
  "$work/$1"
}
build fovea-core "$here/core/core.cpp"
build fovea "$here/consumer.cpp"
"$here/libraries.sh" "$work/fovea-core" || [ -n "${CXXFLAGS:-}" ]
printf '#include <cstdio>\n#include <fovea/version.hpp>\nint main() { std::puts(fovea::version()); }\n' >"$work/version.cpp"
test "$(build fovea-core "$work/version.cpp")" = "$(pkg-config --modversion fovea)"
