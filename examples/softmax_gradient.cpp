// Why scores are divided by the square root of their width: a query and keys of width d, each number of them of
// variance 1, have scores of variance d. Undivided, the softmax of wide ones puts all weight on one key, and hardly any
// gradient comes back through it. Prints CSV: how large that gradient is, and the largest weight, for both ways.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "fovea/fovea.hpp"

namespace {

std::mt19937 bits(1);

// About normal, mean 0 and variance 1, and the same everywhere: twelve uniform numbers added up.
float normal() {
  double total = -6;
  for (int i = 0; i < 12; ++i) total += bits() * 0x1p-32;
  return static_cast<float>(total);
}

fovea::Tensor normals(const fovea::Shape& shape) {
  fovea::Tensor out = fovea::Tensor::zeros(shape);
  for (float& value : out.values()) value = normal();
  return out;
}

struct Measured {
  // Norm of dL/d(scores) of a query, where dL/d(weights) is random of variance 1.
  double mean = 0, median = 0;
  double largest = 0;  // mean largest weight
};

Measured measure(const fovea::Tensor& scores, float factor, const fovea::Tensor& upstream) {
  const auto x = fovea::Var::parameter(scores.clone());
  for (float& value : x.value().values()) value *= factor;
  const fovea::Var weights = fovea::softmax(x);
  fovea::backward(fovea::sum(weights * upstream));
  Measured out;
  std::vector<double> norms;
  const auto rows = scores.shape()[0];
  for (std::int64_t i = 0; i < rows; ++i) {
    double squares = 0;
    float largest = 0;
    for (std::int64_t j = 0; j < scores.shape()[1]; ++j) {
      const auto at = i * scores.shape()[1] + j;
      squares += std::pow(x.grad().data()[at], 2);
      largest = std::max(largest, weights.value().data()[at]);
    }
    norms.push_back(std::sqrt(squares));
    out.mean += norms.back() / static_cast<double>(rows);
    out.largest += largest / static_cast<double>(rows);
  }
  std::sort(norms.begin(), norms.end());
  out.median = norms[norms.size() / 2];
  return out;
}

}  // namespace

int main() {
  constexpr std::int64_t kQueries = 512, kKeys = 32;
  std::printf("d,dot mean,scaled mean,dot median,scaled median,dot largest weight,scaled largest weight\n");
  for (std::int64_t d = 4; d <= 1024; d *= 2) {
    const fovea::Var query(normals({kQueries, d}));
    const fovea::Var key(normals({d, kKeys}));
    const fovea::Tensor scores = fovea::matmul(query, key).value();
    const fovea::Tensor upstream = normals({kQueries, kKeys});
    const Measured dot = measure(scores, 1, upstream);
    const Measured scaled = measure(scores, 1 / std::sqrt(static_cast<float>(d)), upstream);
    std::printf("%d,%.3f,%.3f,%.2g,%.2g,%.2f,%.2f\n", static_cast<int>(d), dot.mean, scaled.mean, dot.median,
                scaled.median, dot.largest, scaled.largest);
  }
}
