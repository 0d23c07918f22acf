// Rows of matrices, as time loops handle them.
#pragma once

#include <cstdint>
#include <cstring>

#include "fovea/tensor.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"

namespace fovea {

/// Null for an empty tensor: nothing there, or not wanted.
inline float* row_of(const Tensor& matrix, std::int64_t row) {
  return matrix ? matrix.data() + row * matrix.stride(0) : nullptr;
}

inline void copy_row(const float* from, float* to, std::int64_t n) {
  std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(float));
}

/// The same where either may be null: nothing is kept, or zeros come from nowhere.
inline void keep_row(const float* from, float* to, std::int64_t n) {
  if (to == nullptr) return;
  if (from != nullptr) {
    copy_row(from, to, n);
  } else {
    std::memset(to, 0, static_cast<std::size_t>(n) * sizeof(float));
  }
}

inline void zero_row(float* to, std::int64_t n) {
  std::memset(to, 0, static_cast<std::size_t>(n) * sizeof(float));
}

inline void add_row(const float* from, float* to, std::int64_t n) {
  kernels::active().math->add_in_place(from, to, static_cast<std::size_t>(n));
}

}  // namespace fovea
