#include "fovea/attention/hierarchical.hpp"

#include <fmt/format.h>

#include "attention/mechanisms/weights.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {

HierarchicalAttention::HierarchicalAttention(Parameters& p, const std::string& name,
                                             const HierarchicalOptions& options) {
  const std::int64_t sentence_dim = options.sentence_dim > 0 ? options.sentence_dim : options.word_dim;
  attention::require_sizes(name, {{"word_dim", options.word_dim}, {"hidden", options.hidden}});
  words = ContextPooling(p, name + ".words", options.word_dim, options.hidden);
  sentences = ContextPooling(p, name + ".sentences", sentence_dim, options.hidden);
}

HierarchicalAttention::Result HierarchicalAttention::operator()(const Var& x, const DocumentLengths& lengths,
                                                                const std::function<Var(const Var&)>& encode) const {
  if (x.rank() != 4) {
    throw ShapeError(fmt::format("hierarchical: {}: expected [batch,sentences,words,width]", x.shape().text()));
  }
  const std::int64_t batch = x.dim(0), sentence_count = x.dim(1), word_count = x.dim(2), width = x.dim(3);
  const Attended word =
      words(reshape(x, {batch * sentence_count, word_count, width}), lengths.words, {.weights = true});
  Var states = reshape(word.context, {batch, sentence_count, width});
  if (encode) states = encode(states);
  const Attended sentence = sentences(states, lengths.sentences, {.weights = true});
  return {reshape(sentence.context, {batch, states.dim(2)}), reshape(word.weights, {batch, sentence_count, word_count}),
          reshape(sentence.weights, {batch, sentence_count})};
}

}  // namespace fovea
