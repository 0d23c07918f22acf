// Translator::trace: the search's own result is run through the model once more, all positions at once, to see every
// layer and head.
#include <algorithm>
#include <numeric>

#include "fovea/error.hpp"
#include "fovea/text.hpp"
#include "fovea/translator.hpp"
#include "tasks/translation/encoded_batch.hpp"
#include "text/words.hpp"

namespace fovea {
namespace {

// One map per head of a layer's weights [1, heads, queries, keys]; rows sum to 1.
void add_maps(AttentionRecord& record, AttentionKind kind, int layer, const Tensor& weights,
              const std::vector<std::string>& queries, const std::vector<std::string>& keys) {
  const Tensor w = weights.contiguous();
  const std::int64_t rows = w.dim(2);
  const std::int64_t columns = w.dim(3);
  for (std::int64_t h = 0; h < w.dim(1); ++h) {
    AttentionMap map{kind, layer, static_cast<int>(h), queries, keys, {rows, columns, {}}};
    const float* from = w.data() + h * rows * columns;
    map.weights.values.assign(from, from + rows * columns);
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto row = map.weights.values.begin() + r * columns;
      const float sum = std::accumulate(row, row + columns, 0.0F);
      if (sum > 0) std::for_each(row, row + columns, [sum](float& v) { v /= sum; });
    }
    record.maps.push_back(std::move(map));
  }
}

AttentionMatrix merged(const AttentionMatrix& m, const text::PieceWords& keys, const text::PieceWords& queries) {
  std::vector<std::vector<float>> rows;
  for (std::int64_t r = 0; r < m.rows; ++r) {
    const auto row = m.values.begin() + r * m.columns;
    rows.emplace_back(row, row + m.columns);
  }
  AttentionMatrix out{
      static_cast<std::int64_t>(queries.words.size()), static_cast<std::int64_t>(keys.words.size()), {}};
  for (const auto& row : text::merge_attention(rows, keys, queries)) {
    out.values.insert(out.values.end(), row.begin(), row.end());
  }
  return out;
}

// Pieces put together to words, in every map.
void merge_words(AttentionRecord& record, const Tokenizers& tokenizers) {
  const auto words = [](const std::shared_ptr<const Tokenizer>& t, const std::vector<std::string>& pieces) {
    return text::words_of_pieces(t->kind(), pieces);
  };
  const auto source = words(tokenizers.source, record.source);
  const auto target = words(tokenizers.target, record.target);
  record.weights = merged(record.weights, source, target);
  for (AttentionMap& map : record.maps) {
    const auto& of_queries = map.kind == AttentionKind::encoder ? tokenizers.source : tokenizers.target;
    const auto& of_keys = map.kind == AttentionKind::decoder ? tokenizers.target : tokenizers.source;
    const auto queries = words(of_queries, map.queries);
    const auto keys = words(of_keys, map.keys);
    map.weights = merged(map.weights, keys, queries);
    map.queries = queries.words;
    map.keys = keys.words;
  }
  record.source = source.words;
  record.target = target.words;
}

}  // namespace

TranslationTrace Translator::trace(const std::string& line, const TranslateOptions& options,
                                   const TraceOptions& want) const {
  TranslateOptions how = options;
  how.attention = true;
  how.n_best = 1;
  how.merge_words = false;
  check(how);
  Line read;
  tokenizers_.source->encode(line, read.ids, &read.pieces);
  if (read.ids.empty()) throw UsageError("attention: the line holds no text");
  check_length(read_length(read), how.first_line);
  const NoGrad quiet;
  const Line* const lines[] = {&read};
  const EncodedBatch batch(members_, lines);
  const std::vector<SearchInput> inputs{{read_length(read), static_cast<std::uint64_t>(how.first_line), {}}};
  std::vector<BeamTree> trees;
  const auto found = search(*batch.start(true, {how.layer, how.head}), inputs, search_options(how), &trees);
  if (found[0].empty()) throw Error("attention: the model gave no output; its weights may hold NaN");

  TranslationTrace trace;
  trace.translation = finish(read, found[0][0], how);
  trace.attention = trace.translation.record();
  trace.beam = std::move(trees[0]);
  for (const auto& node : trace.beam.nodes) {
    trace.beam_tokens.push_back(node.step == 0 ? std::string() : tokenizers_.target->piece(node.token));
  }
  if (members_.size() == 1) {
    const auto& output = found[0][0].tokens;
    PaddedTokens target;
    target.fill(1, Marks::begin, [&](std::int64_t) { return std::span<const std::int32_t>(output); });
    Pass pass;
    const Memory memory = batch.model(0).encode(batch.source(), pass, want.encoder);
    const Decoded decoded =
        batch.model(0).generator().decode(&memory, target.view(), pass, {.cross = want.cross, .self = want.decoder});
    const auto& source = trace.translation.source_tokens;
    std::vector<std::string> fed{"<s>"};  // what stands at the decoder's positions: the output, shifted by one
    fed.insert(fed.end(), trace.translation.target_tokens.begin(), trace.translation.target_tokens.end() - 1);
    int layer = 0;
    for (const Var& w : memory.attention) {
      add_maps(trace.attention, AttentionKind::encoder, layer++, w.value(), source, source);
    }
    layer = 0;
    for (const Var& w : decoded.self) add_maps(trace.attention, AttentionKind::decoder, layer++, w.value(), fed, fed);
    layer = 0;
    for (const Var& w : decoded.cross) {
      add_maps(trace.attention, AttentionKind::cross, layer++, w.value(), trace.translation.target_tokens, source);
    }
  }
  if (options.merge_words && !trace.translation.attention.empty()) {
    merge_words(trace.attention, tokenizers_);
    Translation& t = trace.translation;
    t.source_tokens = trace.attention.source;
    t.target_tokens = trace.attention.target;
    for (std::size_t r = 0; r < t.target_tokens.size(); ++r) {
      if (r >= t.attention.size()) break;
      const auto row =
          trace.attention.weights.values.begin() + static_cast<std::ptrdiff_t>(r) * trace.attention.weights.columns;
      t.attention[r].assign(row, row + trace.attention.weights.columns);
    }
    t.attention.resize(t.target_tokens.size());
  }
  return trace;
}

}  // namespace fovea
