#!/usr/bin/env bash
# documents.sh BINARY FOLDER: every subcommand has a man page with each of its options, and bash completes subcommands,
# options and the values of options that have a choice.
set -euo pipefail
fovea=$1 folder=$2
fail() { echo "$*" >&2; exit 1; }

count=0
for name in $("$fovea" --help | sed -n '/^Subcommands:/,$ s/^  \([a-z]*\) .*/\1/p'); do
  page=$(zcat "$folder/man/fovea-$name.1.gz" | sed 's/\\-/-/g')
  help=--help
  [ "$name" != train ] || help=--help-all
  for option in $("$fovea" "$name" "$help" | grep -oE '^  (-h,)?--[a-z0-9-]+' | grep -oE -- '--[a-z0-9-]+'); do
    grep -q -- "$option\\\\fR" <<<"$page" || fail "fovea-$name.1 lacks $option"
  done
  count=$((count + 1))
done
[ "$count" -ge 8 ] || fail "only $count subcommands were found"

# shellcheck disable=SC1091
. "$folder/fovea.bash"
completes() {  # completes EXPECTED WORD…: the last word as far as it was typed
  local expected=$1
  shift
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _fovea
  [ "${COMPREPLY[*]}" = "$expected" ] || fail "$* completes to '${COMPREPLY[*]}', not '$expected'"
}
completes evaluate fovea eva
completes gemm fovea bench ge
completes --hypothesis fovea evaluate --hyp
completes 'chrf chrf++' fovea evaluate --metric chr
