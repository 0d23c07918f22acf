// The first stage of attention: the score of a query and a key.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "fovea/activation.hpp"
#include "fovea/var.hpp"

namespace fovea::score {

/// q . k  (Luong et al. 2015, "dot"), times `scale` if given.
struct Dot {
  std::optional<float> scale{};  // times q . k; none: 1
};

/// q . k / sqrt(d)  (Vaswani et al. 2017); `scale` replaces 1 / sqrt(d).
struct ScaledDot {
  std::optional<float> scale{};  // instead of 1 / sqrt(d)
};

/// q' W k  (Luong et al. 2015, "general"). With the optional terms q' W k + a . q + b . k + c, the biaffine score of
/// Dozat and Manning 2017.
struct General {
  Var w{};  // [dq, dk]
  Var a{};  // [dq], optional
  Var b{};  // [dk], optional
  Var c{};  // [1], optional
};

/// scale q . k / (max(|q|, epsilon) max(|k|, epsilon))  (Graves et al. 2014).
struct Cosine {
  float scale = 1;        // times the cosine
  float epsilon = 1e-8F;  // smallest norm that is divided by
};

/// v . tanh(W q + U k + b)  (Bahdanau et al. 2015). Without `w` the queries, without `u` the keys are taken as already
/// projected to width h: a decoder projects its keys once per sentence. With coverage c_j (the weight that earlier
/// queries gave key j), v . tanh(W q + U k + c_j w_c + b)  (See et al. 2017).
struct Additive {
  Var w{};                                   // [h, dq], optional
  Var u{};                                   // [h, dk], optional
  Var v{};                                   // [h]
  Var b{};                                   // [h], optional
  Var coverage{};                            // [batch, keys], optional
  Var coverage_weight{};                     // [h], with coverage
  Activation activation = Activation::tanh;  // or leaky_relu, as in graph attention
};

/// v . tanh(W [q; k])  (Luong et al. 2015, "concat").
struct Concat {
  Var w{};  // [h, dq + dk]
  Var v{};  // [h]
};

/// (W q)_j: the query alone decides, whatever the keys are  (Luong et al. 2015, "location").
struct Location {
  Var w{};  // [L, dq], L >= keys
};

/// Your own score of one query and one key:
///
///     score::Pairwise{.score = [](auto q, auto k) { return -std::abs(q[0] - k[0]); }}
///
/// `gradient` adds dscore * d(score)/d(query) to dquery and likewise for the key. Without it attend() throws UsageError
/// when a gradient of the query or key is wanted. Both are called from several threads at once.
struct Pairwise {
  /// One query or one key.
  using Floats = std::span<const float>;
  std::function<float(Floats query, Floats key)> score{};  // of one query and one key
  /// Adds to dquery and dkey; empty: for inference only.
  std::function<void(Floats query, Floats key, float dscore, std::span<float> dquery, std::span<float> dkey)>
      gradient{};
};

/// Your own score, written with Fovea's ops for a block of queries [n, dq] and keys [m, dk]; gives [n, m].
/// Gradients come from the tape, of `parameters` too: use them only through the argument. It is called from several
/// threads at once, for blocks of some 32 queries, and once more per block in the backward.
struct Block {
  /// [n, dq] and [m, dk] to [n, m].
  std::function<Var(const Var& queries, const Var& keys, std::span<const Var> parameters)> score{};
  std::vector<Var> parameters{};  // what the score learns
};

}  // namespace fovea::score

namespace FOVEA_API fovea {

/// Any of the scores.
using Score = std::variant<score::ScaledDot, score::Dot, score::General, score::Cosine, score::Additive, score::Concat,
                           score::Location, score::Pairwise, score::Block>;

}  // namespace fovea
