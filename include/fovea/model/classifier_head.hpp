// The head that chooses a label: one vector of the memory, and an output layer.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "fovea/attention/hierarchical.hpp"
#include "fovea/attention/pooling.hpp"
#include "fovea/model/config.hpp"
#include "fovea/model/encoder.hpp"
#include "fovea/model/loss.hpp"
#include "fovea/nn/linear.hpp"
#include "fovea/nn/recurrent.hpp"

namespace FOVEA_API fovea {

/// Reads a memory and chooses a label.
class ClassifierHead {
 public:
  /// `memory`: the width of the memory. Weights pooling.… and output.…
  ClassifierHead(const ClassifierConfig& config, std::int64_t memory, Parameters& parameters);

  /// The memory as one vector.
  struct Pooled {
    Var vector{};            // [texts, width]: the hops side by side
    Var weights{};           // [rows, hops, length], when asked for and there are some; a gradient may flow into them
    Var sentence_weights{};  // of hierarchical pooling, the same for sentences: [texts, 1, most sentences]
  };
  /// `sentences` [texts]: how many rows of the memory each text has, for hierarchical pooling, which throws ShapeError
  /// unless they sum to all rows; empty for other poolings.
  [[nodiscard]] Pooled pool(const Memory& memory, std::span<const std::int64_t> sentences, Pass& pass,
                            bool want_weights = false) const;
  /// [batch, width] to [batch, labels].
  [[nodiscard]] Var logits(const Var& pooled) const { return output_(pooled); }
  /// `labels` [texts], each 0 to labels - 1. LossOptions::hops_penalty is the weight of the squared distance of A A'
  /// from the identity, where A are the hops' weights, so that hops attend to different words (Lin et al. 2017, eq. 8).
  [[nodiscard]] BatchLoss loss(const Memory& memory, std::span<const std::int64_t> sentences,
                               std::span<const std::int32_t> labels, const LossOptions& how, Pass& pass) const;

 private:
  [[nodiscard]] Pooled pool_documents(const Memory& memory, std::span<const std::int64_t> sentences, Pass& pass,
                                      bool want_weights) const;

  ClassifierConfig config_;
  LearnedPooling learned_;
  ContextPooling context_;
  Linear to_hops_;   // of hops: memory → hidden
  Var hop_queries_;  // [hops, hidden]
  HierarchicalAttention documents_;
  RecurrentLayer sentence_layer_;  // between words and sentences of documents, if sentence_dim > 0
  Linear output_;
};

}  // namespace fovea
