// Cross-entropy of a softmax that is mixed with another source of the same targets, as where a model may copy.
#pragma once

#include <cstdint>
#include <span>

#include "fovea/ops.hpp"

namespace FOVEA_API fovea {

/// p(target) = exp(log_share) softmax(z)[target] + exp(log_other). Logarithms: neither a share of 0 nor a target that
/// one of the two cannot give becomes NaN.
struct Mixture {
  Var log_share{};  // [rows], at most 0: how much the softmax counts
  Var log_other{};  // [rows]: what the other source gives the target, -inf: nothing
};

/// linear_cross_entropy of such a mixture. A target at or past the vocabulary is one that only the other source knows.
/// Label smoothing is of the softmax alone; R-Drop is not possible. Of CrossEntropy, `correct` counts the targets that
/// no token of the softmax exceeds. `generated`, unless empty, gets the softmax's part of each target's probability,
/// from 0 to 1; 0 where padding.
[[nodiscard]] CrossEntropy mixture_cross_entropy(const Var& x, const Var& w, const Var& bias, const Mixture& mixture,
                                                 std::span<const std::int32_t> targets,
                                                 const CrossEntropyOptions& how = {}, std::span<float> generated = {});

}  // namespace fovea
