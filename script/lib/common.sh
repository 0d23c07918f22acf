# What script/reproduce, script/experiment and script/distill share: the binary, errors, training, decoding, scoring.
# shellcheck shell=bash
# Whoever reads this has set $here, the directory it was called from.
shopt -s inherit_errexit  # what fails inside $(…) fails
export LC_ALL=C.UTF-8  # sed splits characters, not bytes; sort orders the same everywhere

self=$(basename "$0")
fail() {
  echo "script/$self: $*" >&2
  exit 2
}

# shellcheck disable=SC2154
absolute() { case $1 in /*) echo "$1" ;; *) echo "$here/$1" ;; esac; }

# The binary: $FOVEA, or the release build, which is made when it is not there.
fovea=build/release/fovea
[ -z "${FOVEA:-}" ] || fovea=$(absolute "$FOVEA")
need_fovea() {
  if [ -z "${FOVEA:-}" ] && [ ! -x "$fovea" ]; then script/build; fi
  [ -x "$fovea" ] || fail "$fovea cannot be run; script/build makes build/release/fovea"
}

# Example programs: in $FOVEA_EXAMPLES, or in the release build, which makes them when they are not there.
examples=$PWD/build/release/examples
[ -z "${FOVEA_EXAMPLES:-}" ] || examples=$(absolute "$FOVEA_EXAMPLES")
need_example() {
  if [ -z "${FOVEA_EXAMPLES:-}" ] && [ ! -x "$examples/$1" ]; then cmake --build --preset release --target "$1" >&2; fi
  [ -x "$examples/$1" ] || fail "$examples/$1 cannot be run; cmake --build --preset release --target $1 makes it"
}

is_number() { [[ $1 =~ ^[0-9]*\.?[0-9]+$ ]]; }
is_count() { [[ $1 =~ ^[1-9][0-9]*$ ]]; }

threads=()  # --threads N for every command, if given
child='' listener=''

stop() {
  [ -z "$child" ] || { kill -TERM "$child" 2>/dev/null || true; wait "$child" "$listener" 2>/dev/null || true; }
  echo "script/$self: interrupted; the same command continues from the last checkpoint" >&2
  exit 130
}

# settings_of OPTION…: a configuration's lines and the other options, except for the limits of its duration
settings_of() {
  while [ $# -gt 0 ]; do
    case $1 in
      --config) grep -v '^#' "$2"; shift ;;
      --max-minutes | --max-epochs | --max-steps) shift ;;
      *) echo "$1" ;;
    esac
    shift
  done | { grep -vE '^max-(minutes|epochs|steps) *=' || true; }
}
# keep_settings MODEL OPTION…: in MODEL.settings. A model that is there with others is not what these would make.
keep_settings() {
  local model=$1
  shift
  settings_of "$@" >"$model.settings.part"
  if [ -e "$model" ] && [ -e "$model.settings" ] && ! cmp -s "$model.settings" "$model.settings.part"; then
    local differs
    differs=$({ diff "$model.settings" "$model.settings.part" || true; } | sed -n 's/^[<>] //p' | paste -s -d ' ')
    rm "$model.settings.part"
    fail "$model was trained with other settings ($differs); remove it, or give another --work"
  fi
  mv "$model.settings.part" "$model.settings"
}

# train_as MODEL DIR OPTION…: a model in DIR/MODEL from DIR/{train,valid}.{source,target}; continues where it was
# interrupted. Its output is in DIR/MODEL.out.
train() { train_as model "$@"; }
train_as() {
  local model=$1 dir=$2 say
  shift 2
  keep_settings "$dir/$model" "$@"
  trap stop INT TERM
  # tee ignores Ctrl-C: without it, a training would end before it has written its checkpoint.
  exec {say}> >(trap '' INT TERM; exec tee "$dir/$model.out")
  listener=$!
  "$fovea" train --model "$dir/$model" --source "$dir/train.source" --target "$dir/train.target" \
    --valid-source "$dir/valid.source" --valid-target "$dir/valid.target" --resume "${threads[@]}" "$@" \
    >&"$say" 2>&1 &
  child=$!
  exec {say}>&-
  wait "$child" || { echo "script/$self: the training of $dir/$model failed" >&2; exit 1; }
  child=
  wait "$listener"
  trap - INT TERM
  # Only the training was stopped: half a training must not be scored.
  if tail -n 1 "$dir/$model.out" | grep -q '^interrupted'; then stop; fi
}

# decode MODEL IN OUT OPTION…
decode() {
  local model=$1 from=$2 to=$3
  shift 3
  "$fovea" run --model "$model" "${threads[@]}" "$@" <"$from" >"$to.part"
  mv "$to.part" "$to"
}

# figure METRIC HYPOTHESIS REFERENCE… [-- OPTION…]: the number alone
figure() { evaluation "$@" | cut -f 1; }
evaluation() {
  local metric=$1 hypothesis=$2 references=() options=()
  shift 2
  while [ $# -gt 0 ]; do
    [ "$1" != -- ] || { shift; options=("$@"); break; }
    references+=(--reference "$1")
    shift
  done
  "$fovea" evaluate --hypothesis "$hypothesis" "${references[@]}" --metric "$metric" "${options[@]}"
}

# The last value of a field in a log of JSON lines.
last_of() { sed -n "s/.*\"$1\":\([-0-9.e+]*\).*/\1/p" "$2" | tail -n 1; }
# The best (largest score) validation's step.
best_step() { grep '"best":true' "$1" | sed -n 's/.*"step":\([0-9]*\).*/\1/p' | tail -n 1; }
valid_loss_of() {
  grep '"best":true' "$1" | sed -n 's/.*"valid_loss":\([-0-9.e+]*\).*/\1/p' | tail -n 1 | awk '{ printf "%.4g", $1 }'
}
minutes_of() { awk -v s="$(last_of seconds "$1")" 'BEGIN { printf "%.1f", s / 60 }'; }
weights_of() { sed -n 's/^model: .*, \([0-9]*\) weights$/\1/p' "$1" | tail -n 1; }
machine() {
  local name
  name=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | head -n 1)
  local count=${threads[1]:-$(nproc)}
  echo "${name:-an unnamed CPU}, $count thread$([ "$count" = 1 ] || echo s)"
}
