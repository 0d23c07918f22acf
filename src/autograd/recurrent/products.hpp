// Products over all rows of a recurrent network, on all threads.
#pragma once

#include <cstdint>

#include "fovea/recurrent.hpp"
#include "fovea/var.hpp"
#include "kernels/gemm.hpp"

namespace fovea {

/// C = op(A) op(B), or += with `add`, on matrices whose rows need not be adjacent.
void multiply(kernels::Trans ta, kernels::Trans tb, const Tensor& a, const Tensor& b, bool add, const Tensor& c);

/// Adds the sum of the rows, columns [begin, end), to the gradient of `to`.
void add_rows(const Tensor& rows, std::int64_t begin, std::int64_t end, const Var& to);

/// dU += before' D, from `gates` [rows, 4h]: an LSTM's D, or a GRU's D_r, D_z, D_n, D_m without D_n.
void state_weight_gradient(Cell cell, const Tensor& before, const Tensor& gates, const Var& state_weights);

}  // namespace fovea
