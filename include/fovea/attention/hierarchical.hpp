// Attention over words, then over sentences.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "fovea/attention/pooling.hpp"

namespace FOVEA_API fovea {

/// Sizes of HierarchicalAttention.
struct HierarchicalOptions {
  std::int64_t word_dim = 0;      // of the embedded words
  std::int64_t sentence_dim = 0;  // of what `encode` gives; 0: word_dim
  std::int64_t hidden = 0;        // of both levels
};

/// The lengths of documents.
struct DocumentLengths {
  std::span<const std::int64_t> words{};      // of each sentence, 0 for one that is padding; empty: all
  std::span<const std::int64_t> sentences{};  // [B]; empty: all, which only padded documents can have
};

/// A document as sentences of words (Yang et al. 2016): s_i = words(x_i1 ... x_iT) for each sentence, then
/// y = sentences(encode(s_1 ... s_S)). Both levels are ContextPooling; `encode` is the caller's, a recurrent network in
/// the paper.
///
///     const HierarchicalAttention layer(parameters, "document", {.word_dim = 64, .hidden = 32});
///     const Var y = layer(x, {.words = words, .sentences = sentences}).document;
struct HierarchicalAttention {
  /// A vector for each document, and the weights of both levels.
  struct Result {
    Var document{};          // [B, d']
    Var word_weights{};      // [B, S, T], or [R, T]
    Var sentence_weights{};  // [B, S]
  };

  HierarchicalAttention() = default;
  /// Weights of the poolings NAME.words and NAME.sentences.
  HierarchicalAttention(Parameters& p, const std::string& name, const HierarchicalOptions& options);

  /// x is [B, S, T, d], padded documents, or [R, T, d], the sentences of all documents one after the other;
  /// lengths.sentences says how many sentences each document has. `encode` maps [B, S, d] to [B, S, d'], nothing: the
  /// sentences as they are.
  [[nodiscard]] Result operator()(const Var& x, const DocumentLengths& lengths = {},
                                  const std::function<Var(const Var&)>& encode = {}, bool want_weights = true) const;

  ContextPooling words{}, sentences{};  // the two levels
};

}  // namespace fovea
