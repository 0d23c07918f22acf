// A decoder at work, one token at a time: what search runs on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/tensor.hpp"

namespace FOVEA_API fovea {

/// Which tokens Stepper::best() shall give.
struct BestRequest {
  int count = 1;              // at most so many of each row
  bool probabilities = true;  // their log-probabilities; otherwise logits, which rank a row's tokens alike
  std::int32_t end = 0;       // a token whose score is wanted too
};

/// The best tokens of each row.
struct BestTokens {
  /// One of them.
  struct Token {
    float score = 0;         // as BestRequest::probabilities says
    std::int32_t token = 0;  // its id
  };
  int count = 0;                     // of BestRequest
  std::int64_t vocabulary = 0;       // tokens that were chosen from
  std::vector<Token> tokens;         // [rows, count], best first; equal ones in the order of their ids
  std::vector<std::int32_t> counts;  // [rows]: how many of them are there
  std::vector<float> ends;           // [rows]: the score of BestRequest::end

  /// Of a row.
  [[nodiscard]] std::span<const Token> row(std::size_t r) const {
    return {tokens.data() + r * static_cast<std::size_t>(count), static_cast<std::size_t>(counts[r])};
  }
};

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
  /// The same step, of which only the best tokens are wanted: faster, since no logits are stored. False, and no step:
  /// it cannot be done so here, now or later.
  [[nodiscard]] virtual bool best(std::span<const std::int32_t> /*tokens*/, const BestRequest& /*request*/,
                                  BestTokens& /*best*/) {
    return false;
  }
  /// Whether they are log-probabilities already, so that their softmax is themselves.
  [[nodiscard]] virtual bool normalized() const { return false; }
  /// Row i goes on as what row rows[i] was; the number of rows becomes rows.size().
  virtual void keep(std::span<const std::int32_t> rows) = 0;
  /// The attention weights of the last step, [rows, source length], averaged over layers and heads (or the chosen
  /// ones). Empty for a model without attention, or when it was not asked for.
  [[nodiscard]] virtual Tensor attention() const { return {}; }
};

}  // namespace fovea
