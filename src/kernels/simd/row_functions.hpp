// The row kernels of one instruction set, defined in several files; rows.cpp gathers them.
#pragma once

#include "kernels/rows.hpp"
#include "kernels/simd/isa.hpp"

namespace fovea::kernels::FOVEA_ISA {

void softmax(const float* x, float* y, std::int64_t rows, std::int64_t width);
void softmax_backward(const float* y, const float* dy, float* dx, std::int64_t rows, std::int64_t width, bool add);
void log_softmax(const float* x, float* y, std::int64_t rows, std::int64_t width);
void log_softmax_backward(const float* y, const float* dy, float* dx, std::int64_t rows, std::int64_t width, bool add);
void layer_norm(const LayerNorm& n);
void layer_norm_backward(const LayerNormBackward& n);
void bias_activation(const BiasActivation& b);
void bias_activation_backward(const BiasActivationBackward& b);

}  // namespace fovea::kernels::FOVEA_ISA
