// A pointer network (Vinyals et al. 2015): the weights are the output. It learns to point at the largest number.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "fovea/fovea.hpp"

using namespace fovea;

int main() {
  constexpr std::int64_t kBatch = 32, kNumbers = 6;
  Parameters parameters(5);
  const Pointer pointer(parameters, "pointer", {.query_dim = 1, .key_dim = 1, .hidden = 8});
  const Tensor query = Tensor::full({kBatch, 1, 1}, 1);  // always the same query
  std::uint32_t dice = 7;
  const auto sample = [&](std::vector<std::int64_t>& largest) {
    Tensor numbers = Tensor::empty({kBatch, kNumbers, 1});
    for (float& v : numbers.values()) v = static_cast<float>((dice = dice * 1664525U + 1013904223U) >> 24U) / 128 - 1;
    largest.clear();
    for (std::int64_t b = 0; b < kBatch; ++b) {
      const float* row = numbers.data() + b * kNumbers;
      largest.push_back(std::max_element(row, row + kNumbers) - row);
    }
    return numbers;
  };

  std::vector<std::int64_t> largest;
  for (int step = 0; step < 400; ++step) {
    const Tensor numbers = sample(largest);
    backward(pointing_loss(pointer(query, numbers), largest));
    for (const auto& entry : parameters.entries()) {
      const Tensor gradient = entry.weight.grad();
      for (std::int64_t i = 0; i < gradient.size(); ++i) entry.weight.value().data()[i] -= 0.5F * gradient.data()[i];
    }
    parameters.zero_grad();
  }

  const Tensor numbers = Tensor::of({1, 6, 1}, {0.1F, -0.9F, 0.4F, 0.95F, -0.2F, 0.6F});
  const Tensor chosen = pointer(Tensor::full({1, 1, 1}, 1), numbers).value();
  const auto best = std::max_element(chosen.data(), chosen.data() + 6) - chosen.data();
  std::printf("numbers 0.10 -0.90 0.40 0.95 -0.20 0.60\npoints at number %d\n", static_cast<int>(best));

  const std::int64_t lengths[] = {3};  // of a shorter list only the first three count
  const Tensor fewer = pointer(Tensor::full({1, 1, 1}, 1), numbers, lengths).value();
  const auto best_of_three = std::max_element(fewer.data(), fewer.data() + 6) - fewer.data();
  std::printf("of the first three at number %d, the others have weight %.2f\n", static_cast<int>(best_of_three),
              fewer.data()[3]);
}
