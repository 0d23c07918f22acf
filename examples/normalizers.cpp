// From the same scores to weights in four ways: softmax gives every key some weight, sparsemax and 1.5-entmax leave
// some out, hard takes one.
#include <cstdio>
#include <utility>
#include <vector>

#include "fovea/fovea.hpp"

int main() {
  using namespace fovea;
  // A query of width 1 that is 1, with scale 1: the score of each key is the key.
  const Tensor query = Tensor::full({1, 1, 1}, 1);
  const Tensor scores = Tensor::of({1, 5, 1}, {2.0F, 1.5F, 0.5F, 0.0F, -1.0F});
  const std::vector<std::pair<const char*, Normalizer>> normalizers = {{"softmax", normalizer::Softmax{}},
                                                                       {"1.5-entmax", normalizer::Entmax{}},
                                                                       {"sparsemax", normalizer::Sparsemax{}},
                                                                       {"hard", normalizer::Hard{}}};
  std::printf("%-10s  2.0  1.5  0.5  0.0 -1.0\n", "scores");
  for (const auto& [name, normalizer] : normalizers) {
    const Attended result =
        attend(query, scores, scores, {.score = score::Dot{}, .normalizer = normalizer, .want = {.weights = true}});
    std::printf("%-10s", name);
    for (int j = 0; j < 5; ++j) std::printf(" %.2f", result.weights.value().data()[j]);
    std::printf("\n");
  }
}
