// What the library's own products multiply with.
#pragma once

#include "fovea/packed_weight.hpp"
#include "kernels/packed_matrix.hpp"

namespace fovea {

[[nodiscard]] const kernels::PackedMatrix& matrix_of(const PackedWeight& weight);

}  // namespace fovea
