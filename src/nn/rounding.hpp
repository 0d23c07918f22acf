// Weights as files of a storage hold them.
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/nn/parameters.hpp"

namespace fovea {

/// A matrix in int8: value(i,j) = q(i,j) * scale, of row i or of column j.
struct Int8Weight {
  std::vector<std::int8_t> q;  // [rows, columns]
  Tensor scale;                // [1, columns] where the columns are outputs, else [rows, 1]
};

/// How a weight is stored in a file: matrices as asked for, vectors in f32, arrays of more axes in f16 at best.
[[nodiscard]] Storage stored_as(const Parameters::Entry& entry, Storage storage);

/// Throws Error naming the weight when it holds a number that is not finite, or too large for f16.
void check_fits(const Parameters::Entry& entry, Storage storage);

/// Rounds a matrix whose numbers are finite.
[[nodiscard]] Int8Weight to_int8(const Parameters::Entry& entry);

/// q * scale, [rows, columns]; scale [1, columns] or [rows, 1].
[[nodiscard]] Tensor from_int8(const Shape& shape, const std::int8_t* q, const Tensor& scale);

}  // namespace fovea
