// The tiled kernels for a Plan.
#pragma once

#include "attention/plan.hpp"

namespace fovea::attention {

/// Whether the tiled kernels compute this: softmax over the dot or additive family, nothing between weights and sum.
/// With `learns`, also the gradients.
[[nodiscard]] bool fits_tiles(const Plan& plan, bool learns);

/// Fills what is wanted in `out`; returns what the backward needs, [B, H, 2, Tq].
[[nodiscard]] Tensor fused_path_forward(const Plan& plan, const Outputs& out);

/// Adds to the gradients of plan.inputs that require one.
/// `dlog_sum`, [B, H, Tq], may be empty.
void fused_path_backward(const Plan& plan, const View& context, const Tensor& stats, const View& dcontext,
                         const Tensor& dlog_sum);

}  // namespace fovea::attention
