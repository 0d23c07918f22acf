// The head that chooses a label: one vector of the memory, and an output layer.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "fovea/attention/pooling.hpp"
#include "fovea/model/config.hpp"
#include "fovea/model/encoder.hpp"
#include "fovea/model/loss.hpp"
#include "fovea/nn/linear.hpp"

namespace fovea {

/// Reads a memory and chooses a label.
class ClassifierHead {
 public:
  /// `memory`: the width of the memory. Weights pooling.… and output.…
  ClassifierHead(const ClassifierConfig& config, std::int64_t memory, Parameters& parameters);

  /// The memory as one vector.
  struct Pooled {
    Var vector{};   // [batch, width]: the hops side by side
    Var weights{};  // [batch, hops, length], when asked for and there are some; a gradient may flow into them
  };
  /// `want_weights`: the attention too.
  [[nodiscard]] Pooled pool(const Memory& memory, bool want_weights = false) const;
  /// [batch, width] to [batch, labels].
  [[nodiscard]] Var logits(const Var& pooled) const { return output_(pooled); }
  /// `labels` [batch], each 0 to labels - 1. `penalty`: weight of the squared distance of A A' from the identity, where
  /// A are the hops' weights, so that hops attend to different words (Lin et al. 2017, eq. 8).
  [[nodiscard]] BatchLoss loss(const Memory& memory, std::span<const std::int32_t> labels, const LossOptions& how,
                               float penalty, Pass& pass) const;

 private:
  ClassifierConfig config_;
  LearnedPooling learned_;
  ContextPooling context_;
  Linear to_hops_;   // of hops: memory → hidden
  Var hop_queries_;  // [hops, hidden]
  Linear output_;
};

}  // namespace fovea
