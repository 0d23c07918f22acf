// The parts of the attention table, one source file each.
#pragma once

#include "kernels/attention.hpp"

namespace fovea::kernels::FOVEA_ISA {

void dot_forward(const DotHead& head, Range rows, float* scratch);
/// The same without dropout, for at most kFewQueries rows.
constexpr int kFewQueries = 8;
void dot_forward_few(const DotHead& head, std::int64_t row0, int rows, float* scratch);
void dot_backward(const DotHead& head, const AttentionGrads& grads, Range rows, Range keys, float* scratch);
void dot_weights(const DotHead& head, const WeightsWanted& wanted, Range rows, float* scratch);
void additive_forward(const AdditiveHead& head, Range rows, float* scratch);
void additive_backward(const AdditiveHead& head, const AttentionGrads& grads, Range rows, Range keys, float* scratch);
void additive_weights(const AdditiveHead& head, const WeightsWanted& wanted, Range rows, float* scratch);

}  // namespace fovea::kernels::FOVEA_ISA
