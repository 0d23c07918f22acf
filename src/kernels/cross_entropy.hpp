// The passes over logits that cross-entropy needs, on slices of the vocabulary.
#pragma once

#include <cstdint>

namespace fovea::kernels {

struct CrossEntropyKernels {
  /// Turns a slice of a row of logits into exp(x - max) in place, for n >= 1, and gives what is needed to put slices
  /// together: the slice's max, the sum of its exp, and the sum of its logits.
  void (*exp_slice)(float* x, std::int64_t n, float* max, float* sum, float* total);
  /// From exp to gradient: x[i] = x[i] * factor[i] - shift for rows i of n values, ldx apart. Adds each column's sum to
  /// column_sums[n] unless that is null.
  void (*gradient_rows)(std::int64_t rows, std::int64_t n, float* x, std::int64_t ldx, const float* factor, float shift,
                        float* column_sums);
};

}  // namespace fovea::kernels
