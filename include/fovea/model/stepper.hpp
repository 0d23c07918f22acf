// A decoder one token at a time, as search uses it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/tensor.hpp"

namespace FOVEA_API fovea {

/// Which tokens Stepper::best() returns.
struct BestRequest {
  int count = 1;              // at most this many for each row
  bool probabilities = true;  // log-probabilities; otherwise logits, which give the same order
  std::int32_t end = 0;       // a token whose score is returned too
};

/// The best tokens of each row.
struct BestTokens {
  /// A token and its score.
  struct Token {
    float score = 0;         // log-probability or logit: BestRequest::probabilities
    std::int32_t token = 0;  // its id
  };
  int count = 0;                     // of BestRequest
  std::int64_t vocabulary = 0;       // number of tokens to choose from
  std::vector<Token> tokens;         // [rows, count], best first; equal ones in the order of their ids
  std::vector<std::int32_t> counts;  // [rows]: number of valid tokens
  std::vector<float> ends;           // [rows]: the score of BestRequest::end

  /// The best tokens of row r.
  [[nodiscard]] std::span<const Token> row(std::size_t r) const {
    return {tokens.data() + r * static_cast<std::size_t>(count), static_cast<std::size_t>(counts[r])};
  }
};

/// A decoder that continues each of its rows by one token per call. A row is a hypothesis of one sentence; at the start
/// each sentence has one row. Rows never influence each other.
class Stepper {
 public:
  Stepper() = default;
  virtual ~Stepper() = default;
  Stepper(const Stepper&) = delete;
  Stepper& operator=(const Stepper&) = delete;

  /// From now on the rows of sentence s choose among candidates[s], which are sorted and contain the end of sequence. A
  /// row's result depends on its own sentence's candidates alone. Throws UsageError if the model does not support it.
  virtual void restrict_to(std::vector<std::vector<std::int32_t>> candidates);
  /// The tokens of the columns of a row's logits, sorted; further columns are unused. Empty: all tokens, in the order
  /// of their ids.
  [[nodiscard]] virtual std::span<const std::int32_t> candidates(std::int64_t /*row*/) const { return {}; }

  /// Feeds each row its last token and returns the logits of the next one, [rows, vocabulary], or of candidates(). The
  /// vocabulary may be larger than the model's by words of the sources.
  [[nodiscard]] virtual Tensor step(std::span<const std::int32_t> tokens) = 0;
  /// The same step, but only the best tokens are returned: faster, since no logits are stored. Returns false without a
  /// step if the stepper does not support it.
  [[nodiscard]] virtual bool best(std::span<const std::int32_t> /*tokens*/, const BestRequest& /*request*/,
                                  BestTokens& /*best*/) {
    return false;
  }
  /// Whether step() returns log-probabilities.
  [[nodiscard]] virtual bool normalized() const { return false; }
  /// Row i continues row rows[i]; the number of rows becomes rows.size().
  virtual void keep(std::span<const std::int32_t> rows) = 0;
  /// The attention weights of the last step, [rows, source length], averaged over layers and heads (or the chosen
  /// ones). Empty for a model without attention, or when it was not asked for.
  [[nodiscard]] virtual Tensor attention() const { return {}; }
};

}  // namespace fovea
