#include "kernels/simd/attention_dot-inl.hpp"
#include "kernels/simd/attention_forward-inl.hpp"
#include "kernels/simd/attention_kernels.hpp"

namespace fovea::kernels::FOVEA_ISA {

void dot_forward(const DotHead& head, Range rows, float* scratch) {
  Carve carve = {scratch};
  DotScores scores = {head, carve.floats(DotScores::floats(head.dim))};
  forward_rows(head, scores, rows, carve);
}

}  // namespace fovea::kernels::FOVEA_ISA
