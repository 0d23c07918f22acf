# The experiments of docs/background/experiments.md; script/experiment calls them with $out, $work, $epochs and $data set.
# shellcheck shell=bash disable=SC2154

experiments='length|BLEU against the length of the source, without and with attention
scores|the same RNN with every score, global and local
encoders|RNN, CNN and self-attention at about equal size: quality, speed, growth with length
growth|RNN, CNN and self-attention: training and decoding speed as sentences grow
scale|the gradient of the softmax with and without division by the root of the width, and what training does
heads|1, 2, 4, 8 and 16 heads at equal width
learned|what a translating model attended to, and how much of it lies on the diagonal'

# What all translating models of the experiments have in common: small enough to train in minutes.
small=(--config configs/experiment.toml)
read -r -a smaller <<<"${FOVEA_EXPERIMENT:-}"  # more options for all of them, as for a quick try

# The figures of RNNs in docs/background/experiments.md, but for encoders, were measured before their embeddings were scaled.
rnn=(--unscaled-embeddings)

# small_model NAME OPTION…: a model in $work/NAME, trained on Multi30k for $epochs epochs (or 8)
small_model() {
  local dir=$work/$1
  shift
  prepare multi30k "$dir" ''
  train "$dir" "${small[@]}" --max-epochs "${epochs:-8}" "$@" "${smaller[@]}"
}

# bleu_of DIR [OPTION…]: of the test lines
bleu_of() {
  local dir=$1
  shift
  decode "$dir/model" "$dir/test.source" "$dir/test.output" "$@"
  figure bleu "$dir/test.output" "$dir/test.target" -- --tokenize none
}
valid_loss() { valid_loss_of "$1/model/log.jsonl"; }
# The middle one of a log's speeds: builds and other programs disturb the mean.
tokens_per_second() {
  sed -n 's/.*"tokens_per_second":\([0-9.]*\).*/\1/p' "$1/model/log.jsonl" | sort -n | awk '{ v[NR] = $1 } END { printf "%.0f", v[int((NR + 1) / 2)] }'
}

# Test lines, alone and joined by two and three, and the BLEU of those whose source has so many words.
experiment_length() {
  local model dir bin row lines side file
  small_model length/plain --preset rnn-plain "${rnn[@]}"
  small_model length/attention --preset rnn-bahdanau "${rnn[@]}"
  for model in plain attention; do
    dir=$work/length/$model
    for side in source target; do
      { cat "$dir/test.$side"; paste -d ' ' - - <"$dir/test.$side"; paste -d ' ' - - - <"$dir/test.$side"; } |
        sed 's/ *$//' >"$dir/long.$side"
    done
    decode "$dir/model" "$dir/long.source" "$dir/long.output"
  done
  echo "words of the source,lines,no attention,attention" >"$out/length.csv"
  for bin in 1-8 9-12 13-16 17-20 21-25 26-30 31-40 41-60; do
    row=$bin
    for model in plain attention; do
      dir=$work/length/$model
      for file in output target; do
        paste "$dir/long.source" "$dir/long.$file" |
          awk -F '\t' -v low="${bin%-*}" -v high="${bin#*-}" '{ n = split($1, w, " ") } n >= low && n <= high { print $2 }' >"$dir/bin.$file"
      done
    done
    lines=$(wc -l <"$work/length/plain/bin.target")
    [ "$lines" -ge 20 ] || continue
    row+=,$lines
    for dir in "$work"/length/{plain,attention}; do
      row+=,$(figure bleu "$dir/bin.output" "$dir/bin.target" -- --tokenize none)
    done
    echo "$row" | tee -a "$out/length.csv"
  done
  "$fovea" chart "$out/length.csv" --svg "$out/length.svg" --y "no attention,attention" --title "BLEU by length of the source"
}

experiment_scores() {
  local name options bleu
  echo "attention,validation loss,BLEU,tokens/s" >"$out/scores.csv"
  while IFS='|' read -r name options; do
    read -r -a options <<<"$options"
    small_model "scores/$name" --preset rnn-bahdanau --form luong --input-feeding "${rnn[@]}" "${options[@]}"
    bleu=$(bleu_of "$work/scores/$name")
    echo "$name,$(valid_loss "$work/scores/$name"),$bleu,$(tokens_per_second "$work/scores/$name")" | tee -a "$out/scores.csv"
  done <<'ROWS'
none|--attention none --no-input-feeding
dot|--attention dot
scaled-dot|--attention scaled-dot
general|--attention general
concat|--attention concat
additive|--attention additive
cosine|--attention cosine
location|--attention location
local-m|--attention general --local monotonic
local-p|--attention general --local predictive
ROWS
  "$fovea" chart "$out/scores.csv" --svg "$out/scores.svg" --y BLEU --y tokens/s --title "BLEU, test 2016" --title "Target tokens per second, training"
}

experiment_encoders() {
  local name options sentences seconds bleu
  echo "encoder and decoder,weights,validation loss,BLEU,tokens/s,sentences/s" >"$out/encoders.csv"
  while IFS='|' read -r name options; do
    read -r -a options <<<"$options"
    dir=$work/encoders/$name
    small_model "encoders/$name" "${options[@]}"
    bleu=$(bleu_of "$dir" --beam 1)
    seconds=$(TIMEFORMAT=%R; { time decode "$dir/model" "$dir/test.source" "$dir/test.output" --beam 1; } 2>&1)
    sentences=$(awk -v s="$seconds" -v n="$(wc -l <"$dir/test.source")" 'BEGIN { printf "%.0f", n / s }')
    echo "$name,$(weights_of "$dir/model.out"),$(valid_loss "$dir"),$bleu,$(tokens_per_second "$dir"),$sentences" | tee -a "$out/encoders.csv"
  done <<'ROWS'
rnn|--preset rnn-bahdanau --dim 256 --embedding 128
cnn|--preset cnn --dim 160 --embedding 128
self-attention|--preset transformer-tiny --learning-rate 0.003 --warmup 500
ROWS
  "$fovea" chart "$out/encoders.csv" --svg "$out/encoders.svg" --y BLEU --y tokens/s,sentences/s \
    --title "BLEU, test 2016, greedy" --title "Training: target tokens per second; decoding: sentences per second"
}

# Speed against length, on random sentences: bench_by_length KIND FIELD OPTION…
bench_by_length() {
  local kind=$1 field=$2 length preset row
  shift 2
  echo "tokens of a sentence,rnn,cnn,self-attention"
  for length in 8 16 32 64 128 256; do
    row=$length
    for preset in rnn-bahdanau cnn transformer-tiny; do
      row+=,$("$fovea" bench "$kind" --preset $preset --vocab 1000 --length $length --seconds "${FOVEA_SECONDS:-3}" "${threads[@]}" "$@" |
        sed -n "s/.*\"$field\":\([0-9]*\).*/\1/p")
    done
    echo "$row"
  done
}
experiment_growth() {
  bench_by_length train target_tokens_per_s >"$out/growth.csv"
  bench_by_length decode tokens_per_s --batch 1 --beam 1 >"$out/growth-decoding.csv"
  "$fovea" chart "$out/growth.csv" --svg "$out/growth.svg" --log-x --log-y --title "Training: target tokens per second"
  "$fovea" chart "$out/growth-decoding.csv" --svg "$out/growth-decoding.svg" --log-x --log-y --title "Decoding one sentence at a time, greedy: tokens per second"
}

# The gradient, by examples/softmax_gradient.cpp; then dates, learnt by an RNN whose attention is divided or not.
experiment_scale() {
  local dim row dir part
  need_example example_softmax_gradient
  need_example example_dates
  "$examples/example_softmax_gradient" >"$out/scale.csv"
  "$fovea" chart "$out/scale.csv" --svg "$out/scale.svg" --log-x --log-y --y "dot mean,scaled mean,dot median,scaled median" \
    --y "dot largest weight,scaled largest weight" --title "Norm of the gradient at the scores, 32 keys" \
    --title "Largest weight of a query (mean)" --x-label "width d of query and keys"
  dir=$work/scale
  for part in train:10000 valid:500 test:1000; do
    "$examples/example_dates" --count "${part#*:}" --split "${part%:*}" --source "$dir/${part%:*}.source" --target "$dir/${part%:*}.target"
  done
  echo "width,transformer dot,transformer scaled dot,LSTM dot,LSTM scaled dot" >"$out/scale-training.csv"
  for dim in 16 64 256; do
    row=$dim
    row+=,$(dates_loss $dim dot --preset transformer-tiny --layers 2 --heads 1 --ffn $((2 * dim)))
    row+=,$(dates_loss $dim scaled-dot --preset transformer-tiny --layers 2 --heads 1 --ffn $((2 * dim)))
    row+=,$(dates_loss $dim dot --preset rnn-luong --no-input-feeding --layers 1 "${rnn[@]}")
    row+=,$(dates_loss $dim scaled-dot --preset rnn-luong --no-input-feeding --layers 1 "${rnn[@]}")
    echo "$row" | tee -a "$out/scale-training.csv"
  done
  "$fovea" chart "$out/scale-training.csv" --svg "$out/scale-training.svg" --log-x \
    --title "Validation loss of dates after ${epochs:-4} epochs" --x-label "width of query and keys"
}
# dates_loss WIDTH SCORE OPTION…: of a model that learns to write dates in ISO form
dates_loss() {
  local dim=$1 score=$2 to=$work/scale/$4-$1-$2
  shift 2
  mkdir -p "$to"
  cp "$work/scale"/{train,valid,test}.{source,target} "$to"
  train "$to" "$@" --dim "$dim" --attention "$score" --tokenizer char --dropout 0.1 --label-smoothing 0 --batch-tokens 2000 \
    --learning-rate 2e-3 --warmup 100 --max-epochs "${epochs:-4}" --checkpoint-every 50 --report-every 20 >&2
  valid_loss "$to"
}

experiment_heads() {
  local heads bleu
  echo "heads,validation loss,BLEU,tokens/s" >"$out/heads.csv"
  for heads in 1 2 4 8 16; do
    small_model "heads/$heads" --preset transformer-tiny --heads "$heads" --learning-rate 0.003 --warmup 500
    bleu=$(bleu_of "$work/heads/$heads")
    echo "$heads,$(valid_loss "$work/heads/$heads"),$bleu,$(tokens_per_second "$work/heads/$heads")" | tee -a "$out/heads.csv"
  done
  "$fovea" chart "$out/heads.csv" --svg "$out/heads.svg" --log-x --y BLEU --y "validation loss" --title "BLEU, test 2016" --title "Validation loss"
}

# Attention between the words, by the model given or the length experiment's: a picture, and how far from the diagonal
# it lies.
experiment_learned() {
  local to=$work/learned
  if [ -z "$model" ]; then
    small_model length/attention --preset rnn-bahdanau "${rnn[@]}"
    model=$work/length/attention/model
  fi
  prepare multi30k "$to" ''
  head -n 200 "$to/test.source" >"$to/source"
  decode "$model" "$to/source" "$to/output" --words --attention "$to/attention.jsonl" --alignments "$to/alignments"
  "$fovea" view "$to/attention.jsonl" --line "${FOVEA_LINE:-1}" --svg "$out/learned.svg"
  # A pair i-j: target word j attended most to source word i. Where both lie, in shares of their sentences.
  paste "$to/alignments" "$to/source" "$to/output" | awk -F '\t' '
    { n = split($1, pairs, " "); s = split($2, w, " "); t = split($3, w, " ")
      for (i = 1; i <= n; ++i) {
        split(pairs[i], p, "-")
        d = (p[1] + 0.5) / s - (p[2] + 0.5) / t
        if (d < 0) d = -d
        b = int(d * 10)
        ++count[b > 5 ? 5 : b]
        ++all
      } }
    END {
      print "distance from the diagonal,share of words"
      for (b = 0; b <= 5; ++b) printf "%s,%.1f\n", b == 5 ? "over 50%" : b * 10 "-" (b + 1) * 10 "%", 100 * count[b] / all
    }' >"$out/learned.csv"
  "$fovea" chart "$out/learned.csv" --svg "$out/learned-diagonal.svg" \
    --title "Distance from the diagonal of what words attend to most, in per cent of the sentence"
}
