#include "fovea/attention/hierarchical.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "attention/mechanisms/weights.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {
namespace {

// Sentences [R, d], those of one document after those of the one before, as [B, S, d] with room for the document of
// most sentences. Padding repeats a sentence.
Var by_document(const Var& rows, std::span<const std::int64_t> sentences) {
  const auto documents = static_cast<std::int64_t>(sentences.size());
  const std::int64_t all = std::accumulate(sentences.begin(), sentences.end(), std::int64_t{0});
  if (documents == 0 || all != rows.dim(0)) {
    throw ShapeError(
        fmt::format("hierarchical: {} sentences of {} documents for {} rows", all, documents, rows.dim(0)));
  }
  const std::int64_t most = *std::max_element(sentences.begin(), sentences.end());
  std::vector<std::int32_t> places(static_cast<std::size_t>(documents * most), 0);
  std::int32_t row = 0;
  for (std::int64_t b = 0; b < documents; ++b) {
    for (std::int64_t s = 0; s < sentences[static_cast<std::size_t>(b)]; ++s) {
      places[static_cast<std::size_t>(b * most + s)] = row++;
    }
  }
  return reshape(gather(rows, places), {documents, most, rows.dim(1)});
}

}  // namespace

HierarchicalAttention::HierarchicalAttention(Parameters& p, const std::string& name,
                                             const HierarchicalOptions& options) {
  const std::int64_t sentence_dim = options.sentence_dim > 0 ? options.sentence_dim : options.word_dim;
  attention::require_sizes(name, {{"word_dim", options.word_dim}, {"hidden", options.hidden}});
  words = ContextPooling(p, name + ".words", options.word_dim, options.hidden);
  sentences = ContextPooling(p, name + ".sentences", sentence_dim, options.hidden);
}

HierarchicalAttention::Result HierarchicalAttention::operator()(const Var& x, const DocumentLengths& lengths,
                                                                const std::function<Var(const Var&)>& encode,
                                                                bool want_weights) const {
  const bool padded = x.rank() == 4;
  if (!padded && x.rank() != 3) {
    throw ShapeError(fmt::format("hierarchical: {}: expected [batch,sentences,words,width] or [sentences,words,width]",
                                 x.shape().text()));
  }
  const std::int64_t rows = padded ? x.dim(0) * x.dim(1) : x.dim(0), width = x.dim(-1);
  const WeightsRequest want{.weights = want_weights};
  const Attended word = words(padded ? reshape(x, {rows, x.dim(2), width}) : x, lengths.words, want);
  Var states = padded ? reshape(word.context, {x.dim(0), x.dim(1), width})
                      : by_document(reshape(word.context, {rows, width}), lengths.sentences);
  if (encode) states = encode(states);
  const Attended sentence = sentences(states, lengths.sentences, want);
  Result result{.document = reshape(sentence.context, {states.dim(0), states.dim(2)})};
  if (!want_weights) return result;
  result.word_weights = reshape(word.weights, padded ? Shape{x.dim(0), x.dim(1), x.dim(2)} : Shape{rows, x.dim(1)});
  result.sentence_weights = reshape(sentence.weights, {states.dim(0), states.dim(1)});
  return result;
}

}  // namespace fovea
