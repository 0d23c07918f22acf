// How files store a weight.
#pragma once

#include "fovea/nn/parameters.hpp"

namespace fovea {

/// Matrices as asked for, vectors in f32, arrays of more axes in f16 at best. Throws Error naming the weight when it
/// holds a number that does not fit: one that is not finite, or too large for f16.
[[nodiscard]] Storage storage_of(const Parameters::Entry& entry, Storage wanted);

/// The matrix in int8, with a scale for each output.
[[nodiscard]] Int8Matrix to_int8(const Parameters::Entry& entry);

}  // namespace fovea
