// What layer_norm and residual_norm share.
#pragma once

#include "fovea/var.hpp"
#include "kernels/random.hpp"

namespace fovea {

/// What the gradient needs.
struct Normalised {
  Tensor x;     // what was normalised, packed
  Tensor mean;  // [rows]
  Tensor rstd;  // [rows]
};

struct NormaliseCall {
  Tensor x;              // packed
  Tensor residual = {};  // of x's shape; x + dropout(residual) is normalised; empty: x is
  kernels::Dropout dropout = {};
  Tensor sum = {};  // where x + dropout(residual) goes
  Var gain = {};    // [width] or empty
  Var bias = {};    // [width] or empty
  float epsilon = 1e-5F;
  Tensor y = {};
};

void check_layer_norm(const char* op, const Var& x, const Var& gain, const Var& bias);
[[nodiscard]] Normalised normalise(const NormaliseCall& call);
/// Writes dx, or adds to it, and adds to the gradients of gain and bias.
void normalise_backward(const Normalised& kept, const Var& gain, const Var& bias, const Tensor& dy,
                        const GradTarget& dx);

}  // namespace fovea
