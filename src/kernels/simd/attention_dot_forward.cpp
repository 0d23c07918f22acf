#include "kernels/simd/attention_dot-inl.hpp"
#include "kernels/simd/attention_forward-inl.hpp"
#include "kernels/simd/attention_kernels.hpp"

namespace fovea::kernels::FOVEA_ISA {

void dot_forward(const DotHead& head, Range rows, float* scratch) {
  const std::int64_t count = rows.end - rows.begin;
  if (count <= kFewQueries && head.keys > kKeyTile / 2 && head.dropout.rate == 0 && head.change.modify == nullptr) {
    dot_forward_few(head, rows.begin, static_cast<int>(count), scratch);
    return;
  }
  Carve carve = {scratch};
  DotScores scores = {head, carve.floats(DotScores::floats(head.dim))};
  forward_rows(head, scores, rows, carve);
}

}  // namespace fovea::kernels::FOVEA_ISA
