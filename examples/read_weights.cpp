// Reading the weights: all of them, chosen rows, the largest of each query, the sum for each key, the entropy.
#include <cstdint>
#include <cstdio>

#include "fovea/fovea.hpp"

int main() {
  using namespace fovea;
  const char* source[] = {"der", "Hund", "schläft"};
  const char* target[] = {"the", "dog", "sleeps"};
  const Tensor queries = Tensor::of({1, 3, 3}, {5, 1, 0, 1, 5, 0, 0, 1, 5});
  const Tensor keys = Tensor::of({1, 3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1});

  const Attended all = attend(queries, keys, keys, {.want = {.weights = true}});
  for (int t = 0; t < 3; ++t) {
    std::printf("%-7s", target[t]);
    for (int s = 0; s < 3; ++s) std::printf(" %s %.2f", source[s], all.weights.value().data()[t * 3 + s]);
    std::printf("\n");
  }

  const std::int64_t row[] = {2};
  const Attended some = attend(
      queries, keys, keys, {.want = {.weights = true, .rows = row, .top = 1, .column_sums = true, .entropy = true}});
  std::printf("only the row of %s: %.2f %.2f %.2f\n", target[2], some.weights.value().data()[0],
              some.weights.value().data()[1], some.weights.value().data()[2]);
  for (int t = 0; t < 3; ++t) {
    std::printf("%s attended most to %s (%.2f), entropy %.2f\n", target[t],
                source[some.top.index[static_cast<std::size_t>(t)]], some.top.weight.data()[t], some.entropy.data()[t]);
  }
  for (int s = 0; s < 3; ++s) std::printf("%s received %.2f in all\n", source[s], some.column_sums.data()[s]);
}
