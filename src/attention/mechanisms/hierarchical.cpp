#include "fovea/attention/hierarchical.hpp"

#include <fmt/format.h>

#include "attention/mechanisms/small_ops.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {

HierarchicalAttention HierarchicalAttention::make(std::int64_t word_dim, std::int64_t sentence_dim, std::int64_t hidden,
                                                  std::uint64_t seed) {
  return {ContextPooling::make(word_dim, hidden, seed), ContextPooling::make(sentence_dim, hidden, mix64(seed))};
}

HierarchicalAttention::Read HierarchicalAttention::operator()(const Var& x, const DocumentLengths& lengths,
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

NamedVars HierarchicalAttention::parameters() const {
  NamedVars all;
  for (const auto& [name, var] : words.parameters()) all.emplace_back("words." + name, var);
  for (const auto& [name, var] : sentences.parameters()) all.emplace_back("sentences." + name, var);
  return all;
}

}  // namespace fovea
