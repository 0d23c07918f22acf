// Every score as a dot product or an additive sum of projected queries and keys, its parameters checked. attend() and
// the recurrent decoder both compute scores from this form.
//   general   q' W k + b . k = (W' q + b) . k              a . q + c, the same for all keys, cancels in softmax
//   cosine    q . k / |q| |k| = (q / |q|) . (k / |k|)
//   additive  v . f(W q + U k + b)
//   concat    v . tanh(W [q;k]) = v . tanh(W_q q + W_k k)
//   location  (W q)_j = q . W_j: the rows of W are the keys of every sequence
#pragma once

#include <cstdint>

#include "fovea/attention/scores.hpp"

namespace fovea::attention {

/// y = x W' + b with the columns of W [out, ..] from `first` on; without a W, x itself.
struct ScoreMap {
  Var w{};                 // [out, first + in or more]
  Var b{};                 // [out] or empty
  std::int64_t first = 0;  // column of W
  explicit operator bool() const { return static_cast<bool>(w); }
  /// Applied to `heads` pieces side by side in the last axis of x.
  [[nodiscard]] Var operator()(const Var& x, std::int64_t heads = 1) const;
};

struct ScoreForm {
  enum class Kind { dot, general, cosine, additive, location, pairwise, block };

  Kind kind = Kind::dot;
  float scale = 1;       // of dot and cosine
  float epsilon = 0;     // of cosine: the smallest norm
  std::int64_t dim = 0;  // of additive: the width of projected queries and keys; of location: the rows of W
  ScoreMap query{}, key{};
  score::General general{};
  Var vector{};  // [dim] of additive
  Activation activation = Activation::tanh;
  Var coverage{}, coverage_weight{};          // of additive, as in score::Additive
  const score::Pairwise* pairwise = nullptr;  // of the caller
  const score::Block* block = nullptr;        // of the caller
};

/// What errors call the operation, its queries and its keys.
struct ScoreNames {
  const char* op;     // "attend"
  const char* query;  // "query"
  const char* key;    // "key"
};

/// Throws ShapeError and UsageError naming the parameter that does not fit queries and keys of these widths. The form
/// borrows user functions from the score.
[[nodiscard]] ScoreForm score_form(const ScoreNames& names, const Score& score, std::int64_t query_dim,
                                   std::int64_t key_dim);

}  // namespace fovea::attention
