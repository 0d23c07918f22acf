#!/bin/sh
# run.sh BUILD FOLDER…: the graphs of each folder in onnxruntime, against the logits that are there (see compare.js). Its
# package comes from npm once, into BUILD. Ends with 77 where this machine cannot get it.
set -eu
source=$(cd "$(dirname "$0")" && pwd)
build=$1
shift
. "$source/../../support/npm.sh"
mkdir -p "$build"
exec 9>"$build/lock"  # tests run side by side
flock 9
fetch_packages
exec 9>&-
NODE_PATH="$build/node_modules" exec node "$source/compare.js" "$@"
