// What a unit does to its sum.
#pragma once

namespace fovea::kernels {

enum class Activation { none, relu, gelu, tanh, sigmoid };

}  // namespace fovea::kernels
