// Attention over words, then over sentences.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "fovea/attention/pooling.hpp"

namespace fovea {

/// How much of a document is there.
struct DocumentLengths {
  std::span<const std::int64_t> words{};      // [B * S], 0 for a sentence that is padding; empty: all
  std::span<const std::int64_t> sentences{};  // [B]
};

/// A document as sentences of words (Yang et al. 2016): s_i = words(x_i1 ... x_iT) for each sentence, then
/// y = sentences(encode(s_1 ... s_S)). Both levels are ContextPooling; `encode` is the caller's, a recurrent network in
/// the paper.
struct HierarchicalAttention {
  ContextPooling words{}, sentences{};

  struct Read {
    Var document{};          // [B, d']
    Var word_weights{};      // [B, S, T]
    Var sentence_weights{};  // [B, S]
  };

  [[nodiscard]] static HierarchicalAttention make(std::int64_t word_dim, std::int64_t sentence_dim, std::int64_t hidden,
                                                  std::uint64_t seed);

  /// x [B, S, T, d]; `encode` maps [B, S, d] to [B, S, d'], nothing: the sentences as they are.
  [[nodiscard]] Read operator()(const Var& x, const DocumentLengths& lengths = {},
                                const std::function<Var(const Var&)>& encode = {}) const;
  [[nodiscard]] NamedVars parameters() const;
};

}  // namespace fovea
