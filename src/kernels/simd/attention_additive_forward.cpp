#include "kernels/simd/attention_additive-inl.hpp"
#include "kernels/simd/attention_forward-inl.hpp"
#include "kernels/simd/attention_kernels.hpp"

namespace fovea::kernels::FOVEA_ISA {

void additive_forward(const AdditiveHead& head, Range rows, float* scratch) {
  Carve carve = {scratch};
  AdditiveScores scores(head, carve);
  forward_rows(head, scores, rows, carve);
}

}  // namespace fovea::kernels::FOVEA_ISA
