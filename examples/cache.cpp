// Word by word or all at once: with the keys and values kept in a cache, each step computes only what is new, and the
// result is that of the whole sequence under a causal mask.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "fovea/fovea.hpp"

int main() {
  using namespace fovea;
  constexpr std::int64_t kSteps = 50, kHeads = 4, kDim = 8;
  const auto wave = [](float phase) {
    Tensor t = Tensor::empty({1, kSteps, kHeads * kDim});
    for (std::int64_t i = 0; i < t.size(); ++i) t.data()[i] = std::sin(phase + 0.37F * static_cast<float>(i % 1001));
    return t;
  };
  const Tensor q = wave(0), k = wave(1), v = wave(2);
  const Tensor whole = attend(q, k, v, {.heads = kHeads, .causal = true}).context.value();

  KeyValueCache cache;
  float apart = 0;
  for (std::int64_t t = 0; t < kSteps; ++t) {
    cache.append(k.slice(1, t, t + 1), v.slice(1, t, t + 1));
    const Tensor now = cache.attend(q.slice(1, t, t + 1), {.heads = kHeads}).context.value();
    for (std::int64_t i = 0; i < kHeads * kDim; ++i) {
      apart = std::max(apart, std::abs(now.data()[i] - whole.data()[t * kHeads * kDim + i]));
    }
  }
  std::printf("%d steps in the cache, largest difference to all at once %.4f\n", static_cast<int>(cache.length()),
              apart);

  cache.rewind(10);  // back to an earlier point, to try another continuation
  std::printf("rewound to %d\n", static_cast<int>(cache.length()));

  const std::int32_t from_row[] = {0, 0, 0};  // a beam: three hypotheses go on from the first and only row
  cache.keep(from_row);
  std::printf("%d hypotheses, each with %d steps\n", static_cast<int>(cache.rows()), static_cast<int>(cache.length()));
}
