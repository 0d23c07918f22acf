#!/usr/bin/env bash
# try_static.sh BINARY DATES [STEPS]: the statically linked fovea alone in an empty folder, as its whole file system: trains
# on dates (of the program DATES), translates, finds Chinese words, serves. As another user than root it needs user namespaces.
set -euo pipefail
folder=$(mktemp -d) server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
cp "$1" "$folder/fovea"
enter=(chroot "$folder")
[ "$(id -u)" = 0 ] || enter=(unshare --user --map-root-user "${enter[@]}")
check() { [ "$2" = "$3" ] || { echo "try_static.sh: $1 gave '$2' instead of '$3'" >&2; exit 1; }; }

"$2" --count 30000 --source "$folder/source" --target "$folder/target"
"${enter[@]}" /fovea train --model /model --source /source --target /target --languages dates-iso --preset rnn-bahdanau \
  --dim 128 --embedding 64 --tokenizer char --dropout 0.1 --label-smoothing 0 --batch-tokens 3000 --learning-rate 3e-3 \
  --warmup 20 --max-steps "${3:-60}" >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
date=$(echo '3 March 2021' | "${enter[@]}" /fovea run --model /model)

# Words by ICU's dictionary, pieces by SentencePiece.
printf '注意力机制模仿了生物观察行为\n我们喜欢小猫\n' >"$folder/zh"
for tokenizer in word sentencepiece; do
  "${enter[@]}" /fovea train --model "/$tokenizer" --source /zh --target /zh --valid-source /zh --valid-target /zh \
    --tokenizer "$tokenizer" --vocab 40 --preset rnn-bahdanau --dim 8 --embedding 8 --max-steps 1 >"$folder/log" 2>&1 ||
    { cat "$folder/log" >&2; exit 1; }
done
grep -q '"注意力"' "$folder"/word/*.json || { echo "try_static.sh: 注意力 is no word" >&2; exit 1; }

port=$((20000 + $$ % 20000))
"${enter[@]}" /fovea serve --model /model --port "$port" >"$folder/log" 2>&1 &
server=$!
until curl -sf "http://127.0.0.1:$port/health" >/dev/null; do
  kill -0 "$server" || { cat "$folder/log" >&2; exit 1; }
  sleep 0.1
done
served=$(curl -sf -d 'q=3 March 2021' -d source=dates -d target=iso "http://127.0.0.1:$port/translate")
check "fovea serve" "$served" "{\"translatedText\":\"$date\"}"
echo "alone in an empty folder it trains, runs and serves"
