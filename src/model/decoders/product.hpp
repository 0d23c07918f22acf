// A decoder's linear maps on plain arrays, for steppers that allocate nothing.
#pragma once

#include <cstdint>

#include "fovea/nn/linear.hpp"
#include "kernels/gemm.hpp"
#include "tensor/matrix_of.hpp"

namespace fovea {

/// Input and output of a product. The rows of each have a stride.
struct StepRows {
  std::int64_t count = 0;
  const float* x = nullptr;  // [count, in]
  std::int64_t x_row = 0;
  float* y = nullptr;  // [count, out]
  std::int64_t y_row = 0;
};

/// y = f(x W + b), or with `add` f(y + x W + b), on the packed form if there is one. A row gives the same bytes
/// with any other rows.
inline void multiply(const Weight& w, const StepRows& rows, const kernels::Epilogue& epilogue = {}, bool add = false) {
  const float beta = add ? 1.0F : 0.0F;
  if (w.packed) {
    return kernels::parallel_gemm_packed(rows.count, rows.x, rows.x_row, matrix_of(*w.packed), beta, rows.y, rows.y_row,
                                         epilogue);
  }
  const Tensor values = w.var.value().contiguous();
  kernels::parallel_gemm(kernels::Trans::no, kernels::Trans::no, rows.count, w.out(), w.in(), rows.x, rows.x_row,
                         values.data(), w.out(), beta, rows.y, rows.y_row, epilogue);
}

inline void multiply(const Linear& linear, const StepRows& rows, Activation activation = Activation::none,
                     bool add = false) {
  const float* bias = linear.bias ? linear.bias.value().data() : nullptr;
  multiply(linear.weight, rows, {.bias = bias, .activation = activation}, add);
}

/// The same for contiguous rows.
inline void multiply(const Linear& linear, std::int64_t count, const float* x, float* y,
                     Activation activation = Activation::none, bool add = false) {
  multiply(linear, {count, x, linear.weight.in(), y, linear.weight.out()}, activation, add);
}

}  // namespace fovea
