// A decoder at work, one token at a time: what search runs on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/tensor.hpp"

namespace fovea {

/// A decoder that has read its memory and continues each of its rows by one token per call. A row is a hypothesis about
/// one sentence; at the start there is one row per sentence. Rows never influence each other.
class Stepper {
 public:
  Stepper() = default;
  virtual ~Stepper() = default;
  Stepper(const Stepper&) = delete;
  Stepper& operator=(const Stepper&) = delete;

  /// From now on the rows of sentence s write only tokens of candidates[s], which are sorted and hold the end of
  /// sequence. What a row gives depends on its own sentence's tokens alone. Throws UsageError where it cannot be.
  virtual void restrict_to(std::vector<std::vector<std::int32_t>> candidates);
  /// The tokens that the columns of a row's logits stand for, sorted; columns behind them count for nothing. Empty: all
  /// tokens, in their order.
  [[nodiscard]] virtual std::span<const std::int32_t> candidates(std::int64_t /*row*/) const { return {}; }

  /// Feeds each row its last token and returns the logits of the next one, [rows, vocabulary], or of candidates(). The
  /// vocabulary may be larger than the model's by words of the sources.
  [[nodiscard]] virtual Tensor step(std::span<const std::int32_t> tokens) = 0;
  /// Whether they are log-probabilities already, so that their softmax is themselves.
  [[nodiscard]] virtual bool normalized() const { return false; }
  /// Row i goes on as what row rows[i] was; the number of rows becomes rows.size().
  virtual void keep(std::span<const std::int32_t> rows) = 0;
  /// The attention weights of the last step, [rows, source length], averaged over layers and heads (or the chosen
  /// ones). Empty for a model without attention, or when it was not asked for.
  [[nodiscard]] virtual Tensor attention() const { return {}; }
};

}  // namespace fovea
