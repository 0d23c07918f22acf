#include "kernels/simd/attention_additive-inl.hpp"
#include "kernels/simd/attention_dot-inl.hpp"
#include "kernels/simd/attention_kernels.hpp"
#include "kernels/simd/attention_weights-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {

void dot_weights(const DotHead& head, const WeightsWanted& wanted, Range rows, float* scratch) {
  Carve carve = {scratch};
  DotScores scores = {head, carve.floats(DotScores::floats(head.dim))};
  weights_rows(head, scores, wanted, rows, carve);
}

void additive_weights(const AdditiveHead& head, const WeightsWanted& wanted, Range rows, float* scratch) {
  Carve carve = {scratch};
  AdditiveScores scores(head, carve);
  weights_rows(head, scores, wanted, rows, carve);
}

}  // namespace fovea::kernels::FOVEA_ISA
