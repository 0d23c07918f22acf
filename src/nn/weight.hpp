// Packed forms of a weight.
#pragma once

#include <memory>

#include "fovea/nn/parameters.hpp"

namespace fovea {

/// w [in, out] or [out, in], packed in float32.
[[nodiscard]] std::shared_ptr<const PackedWeight> pack_f32(const Tensor& w, MatrixLayout layout);

}  // namespace fovea
