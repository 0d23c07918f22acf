#include <algorithm>
#include <cmath>

#include "kernels/cross_entropy.hpp"

namespace fovea::kernels::generic {
namespace {

void exp_slice(float* x, std::int64_t n, float* max, float* sum, float* total) {
  const float largest = *std::max_element(x, x + n);
  double exps = 0;
  double logits = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    logits += x[j];
    x[j] = std::exp(x[j] - largest);
    exps += x[j];
  }
  *max = largest;
  *sum = static_cast<float>(exps);
  *total = static_cast<float>(logits);
}

void gradient_rows(std::int64_t rows, std::int64_t n, float* x, std::int64_t ldx, const float* factor, float shift,
                   float* column_sums) {
  for (std::int64_t i = 0; i < rows; ++i) {
    float* row = x + i * ldx;
    for (std::int64_t j = 0; j < n; ++j) {
      row[j] = row[j] * factor[i] - shift;
      if (column_sums != nullptr) column_sums[j] += row[j];
    }
  }
}

void exp_pair(float* a, float* b, std::int64_t n, float* max, float* sum, float* total, float* apart, float* weighted) {
  for (std::int64_t j = 0; j < n; ++j) apart[j] = a[j] - b[j];
  exp_slice(a, n, max, sum, total);
  exp_slice(b, n, max + 1, sum + 1, total + 1);
  double of_a = 0;
  double of_b = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    of_a += static_cast<double>(a[j]) * apart[j];
    of_b += static_cast<double>(b[j]) * apart[j];
  }
  weighted[0] = static_cast<float>(of_a);
  weighted[1] = static_cast<float>(of_b);
}

// dz_a = p - shift + w [p (log p/q - KL(p, q)) + p - q], dz_b the other way round
void gradient_pairs(std::int64_t pairs, std::int64_t n, float* x, std::int64_t ldx, const float* factor, float shift,
                    const PairTerms* terms, const float* apart, std::int64_t apart_stride, float* column_sums) {
  for (std::int64_t i = 0; i < pairs; ++i) {
    float* a = x + 2 * i * ldx;
    float* b = a + ldx;
    const PairTerms& t = terms[i];
    for (std::int64_t j = 0; j < n; ++j) {
      const float p = a[j] * factor[2 * i];
      const float q = b[j] * factor[2 * i + 1];
      const float ratio = apart[i * apart_stride + j] + t.offset;
      a[j] = p - shift + t.weight * (p * (ratio - t.kl_a) + p - q);
      b[j] = q - shift + t.weight * (q * (-ratio - t.kl_b) + q - p);
      if (column_sums != nullptr) column_sums[j] += a[j] + b[j];
    }
  }
}

}  // namespace

extern const CrossEntropyKernels cross_entropy;
const CrossEntropyKernels cross_entropy = {
    .exp_slice = exp_slice, .gradient_rows = gradient_rows, .exp_pair = exp_pair, .gradient_pairs = gradient_pairs};

}  // namespace fovea::kernels::generic
