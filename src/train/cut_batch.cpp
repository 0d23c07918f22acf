#include "train/cut_batch.hpp"

#include <algorithm>

namespace fovea {

void cut_batch(const Examples& examples, std::vector<std::int64_t>& batch, std::int64_t micro_tokens, int workers,
               std::vector<std::size_t>& ends) {
  std::sort(batch.begin(), batch.end(), [&](std::int64_t a, std::int64_t b) {
    const ExampleSize x = examples.size(a);
    const ExampleSize y = examples.size(b);
    if (x.output != y.output) return x.output > y.output;
    return x.input != y.input ? x.input > y.input : a < b;
  });
  const auto cost = [&](std::int64_t i) { return examples.size(i).input + examples.size(i).output; };
  std::int64_t total = 0;
  std::int64_t outputs = 0;
  for (const std::int64_t i : batch) {
    total += cost(i);
    outputs += examples.size(i).output;
  }
  std::int64_t groups = (outputs + micro_tokens - 1) / micro_tokens;
  groups = (groups + workers - 1) / workers * workers;
  groups = std::clamp<std::int64_t>(groups, 1, std::max<std::int64_t>(1, static_cast<std::int64_t>(batch.size())));
  ends.clear();
  std::int64_t done = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    done += cost(batch[i]);
    const auto left = static_cast<std::int64_t>(batch.size() - i) - 1;
    const std::int64_t still = groups - static_cast<std::int64_t>(ends.size()) - 1;  // groups after this one
    const bool enough = done * groups >= total * (static_cast<std::int64_t>(ends.size()) + 1);
    if (still > 0 && (enough || left == still)) ends.push_back(i + 1);
  }
  ends.push_back(batch.size());
}

}  // namespace fovea
