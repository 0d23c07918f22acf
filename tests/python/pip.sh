#!/usr/bin/env bash
# `pip install .` in a fresh virtual environment, and the first example in it. Arguments: Python, source folder, build folder
# whose module is used.
set -euo pipefail
python=$1 source=$2 build=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv --system-site-packages "$folder/venv"
FOVEA_BUILD_DIR=$build "$folder/venv/bin/pip" install --quiet --no-index --no-build-isolation "$source"
cd "$folder"
"$folder/venv/bin/python" "$source/examples/python/attend.py" | diff - "$source/examples/python/attend.txt"
"$folder/venv/bin/python" -c 'import fovea; print("fovea", fovea.__version__, fovea.__file__)'
