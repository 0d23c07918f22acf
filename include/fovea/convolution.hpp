// Convolutions over time and over pictures, and pooling.
#pragma once

#include <cstdint>
#include <span>

#include "fovea/activation.hpp"
#include "fovea/packed_weight.hpp"
#include "fovea/var.hpp"

namespace FOVEA_API fovea {

/// Where a window over time lies: `same` around its step (for an even width one step more to the right), `causal`
/// ending at it.
enum class TimePadding { same, causal };

/// Options of conv1d() and conv1d_glu().
struct Conv1dOptions {
  TimePadding padding = TimePadding::same;     // where the window lies
  std::span<const std::int64_t> lengths = {};  // of each sequence, 0 to T; empty: all T. Only read during the call
  const PackedWeight* packed = nullptr;        // used when nothing is recorded; the weights may then be empty
};

/// A convolution over time: `x` [B, T, C], `weights` [K C, O] for windows of K steps (row k C + c weighs channel c of
/// the window's step k), `bias` [O]; gives [B, T, O]. Padding counts as zeros, and its outputs are zeros.
[[nodiscard]] Var conv1d(const Var& x, const Var& weights, const Var& bias, const Conv1dOptions& how = {});

/// The same through a gated linear unit (Gehring et al. 2017): `weights` [K C, 2 D], y = a s(g) where a are the first D
/// sums and g the others; gives [B, T, D].
[[nodiscard]] Var conv1d_glu(const Var& x, const Var& weights, const Var& bias, const Conv1dOptions& how = {});

/// Windows over pictures; rows, then columns.
struct Window2d {
  std::int64_t height = 1;    // rows
  std::int64_t width = 1;     // columns
  std::int64_t stride_y = 1;  // rows from one window to the next
  std::int64_t stride_x = 1;  // columns from one window to the next
  std::int64_t pad_y = 0;     // zeros (for the maximum: nothing) on either side
  std::int64_t pad_x = 0;     // columns of zeros at the left and at the right
};

/// A convolution over pictures: `x` [B, H, W, C], `weights` [window.height window.width C, O], `bias` [O]; gives
/// [B, H', W', O] with H' = (H + 2 pad - height) / stride + 1. `activation` may be relu, in the same pass.
[[nodiscard]] Var conv2d(const Var& x, const Var& weights, const Var& bias, const Window2d& window,
                         Activation activation = Activation::none);

/// The largest and the mean value of each window, channel by channel: [B, H, W, C] to [B, H', W', C]. Padding never
/// wins the maximum; the mean counts it as zeros. At most half a window may be padding.
[[nodiscard]] Var max_pool2d(const Var& x, const Window2d& window);
/// The mean of each window.
[[nodiscard]] Var average_pool2d(const Var& x, const Window2d& window);

/// The mean over all pixels: [B, H, W, C] to [B, C].
[[nodiscard]] Var global_average_pool2d(const Var& x);

}  // namespace fovea
