// The turns of a conversation in a source: embeddings of turns, and attention over turns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/attention/multi_head.hpp"
#include "fovea/attention/pooling.hpp"
#include "fovea/model/encoder.hpp"
#include "fovea/nn/embedding.hpp"
#include "fovea/nn/layer_norm.hpp"

namespace fovea {

/// The positions of the turns of a batch: <s> ends a turn, and the source's end of sequence ends the last.
struct TurnPlaces {
  explicit TurnPlaces(const Tokens& source);

  std::vector<std::int32_t> back;    // [batch * length]: how many turns before the last one; padding has 0
  std::vector<std::int32_t> number;  // [batch * length]: counted from a row's first
  std::vector<std::int64_t> first,
      size;                       // of each turn of the batch: its first position in its row, and its number of tokens
  std::vector<std::int32_t> row;  // of each turn
  std::vector<std::int64_t> turns;     // [batch]
  std::int64_t longest = 0, most = 0;  // tokens of a turn, turns of a row
};

/// Flat (the turns as one sequence): each token's embedding gets that of its turn, counted from the last.
class TurnEmbedding {
 public:
  /// Weight NAME.
  TurnEmbedding(Parameters& p, const std::string& name, std::int64_t most, std::int64_t width,
                const EmbeddingOptions& options)
      : embedding_(p, name, most, width, options) {}
  [[nodiscard]] Var add_to(const Var& embedded, const TurnPlaces& places) const;

 private:
  Embedding embedding_;
};

/// Hierarchical (after Yang et al. 2016 and Xing et al. 2018): the encoder reads each turn alone; attention over its
/// words makes a vector of it; the turns attend to each other; the context of its turn is added to each word's state.
class TurnAttention {
 public:
  /// Weights NAME.…; `width` is the encoder's.
  TurnAttention(Parameters& p, const std::string& name, std::int64_t most, std::int64_t width);
  [[nodiscard]] Memory encode(const Encoder& encoder, const Var& embedded, const Tokens& source,
                              const TurnPlaces& places, Pass& pass, bool want_attention) const;

 private:
  Embedding places_;  // turns counted from the last
  ContextPooling words_;
  MultiHead turns_;
  LayerNorm norm_;
};

}  // namespace fovea
