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

}  // namespace

extern const CrossEntropyKernels cross_entropy;
const CrossEntropyKernels cross_entropy = {.exp_slice = exp_slice, .gradient_rows = gradient_rows};

}  // namespace fovea::kernels::generic
