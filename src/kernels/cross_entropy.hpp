// The passes over logits that cross-entropy needs, on slices of the vocabulary.
#pragma once

#include <cstdint>

namespace fovea::kernels {

/// What pulls the two distributions of a pair, p and q, together: w [KL(p, q) + KL(q, p)].
struct PairTerms {
  float weight;      // w
  float offset;      // lse(b) - lse(a), so that apart + offset is log p - log q
  float kl_a, kl_b;  // KL(p, q), KL(q, p)
};

struct CrossEntropyKernels {
  /// Turns a slice of a row of logits into exp(x - max) in place, for n >= 1, and gives what is needed to put slices
  /// together: the slice's max, the sum of its exp, and the sum of its logits.
  void (*exp_slice)(float* x, std::int64_t n, float* max, float* sum, float* total);
  /// From exp to gradient: x[i] = x[i] * factor[i] - shift for rows i of n values, ldx apart. Adds each column's sum to
  /// column_sums[n] unless that is null.
  void (*gradient_rows)(std::int64_t rows, std::int64_t n, float* x, std::int64_t ldx, const float* factor, float shift,
                        float* column_sums);
  /// For a token whose logits were made twice, under two dropout masks (R-Drop): apart = a - b, then exp_slice of both
  /// rows, and of each the sum of its exp times apart. max, sum, total and weighted have two values each.
  void (*exp_pair)(float* a, float* b, std::int64_t n, float* max, float* sum, float* total, float* apart,
                   float* weighted);
  /// gradient_rows for such pairs: rows 2 i and 2 i + 1 of x, apart_stride between the rows of apart.
  void (*gradient_pairs)(std::int64_t pairs, std::int64_t n, float* x, std::int64_t ldx, const float* factor,
                         float shift, const PairTerms* terms, const float* apart, std::int64_t apart_stride,
                         float* column_sums);
};

}  // namespace fovea::kernels
