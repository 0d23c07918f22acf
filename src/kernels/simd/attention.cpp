#include "kernels/attention.hpp"

#include "kernels/simd/attention_kernels.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

// More than any of the kernels carves: up to eight arrays of a tile's rows, five tiles of scores, kept tanh values.
std::int64_t scratch_floats(std::int64_t, std::int64_t dim, std::int64_t value_dim) {
  const std::int64_t width = (dim > value_dim ? dim : value_dim) + 16;
  return 8 * 64 * width + (48 << 10);
}

}  // namespace

extern const AttentionKernels attention;
const AttentionKernels attention = {
    .scratch = scratch_floats,
    .dot_forward = dot_forward,
    .dot_backward = dot_backward,
    .dot_weights = dot_weights,
    .additive_forward = additive_forward,
    .additive_backward = additive_backward,
    .additive_weights = additive_weights,
};

}  // namespace fovea::kernels::FOVEA_ISA
