#include "train/micro_batch.hpp"

namespace fovea {

void MicroBatch::fill(const Pairs& pairs, std::span<const std::int64_t> which, int times) {
  const auto different = static_cast<std::int64_t>(which.size());
  rows = times * different;
  source_length = target_length = target_tokens = source_tokens = 0;
  source_lengths.clear();
  target_lengths.clear();
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t i = which[static_cast<std::size_t>(r % different)];
    source_lengths.push_back(static_cast<std::int64_t>(pairs.source(i).size()) + 1);
    target_lengths.push_back(static_cast<std::int64_t>(pairs.target(i).size()) + 1);
    source_length = std::max(source_length, source_lengths.back());
    target_length = std::max(target_length, target_lengths.back());
    target_tokens += target_lengths.back();
    source_tokens += source_lengths.back();
  }
  source.assign(static_cast<std::size_t>(rows * source_length), pad_id);
  target.assign(static_cast<std::size_t>(rows * target_length), pad_id);
  wanted.assign(static_cast<std::size_t>(rows * target_length), pad_id);
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto s = pairs.source(which[static_cast<std::size_t>(r % different)]);
    const auto t = pairs.target(which[static_cast<std::size_t>(r % different)]);
    const auto source_row = source.begin() + r * source_length;
    *std::copy(s.begin(), s.end(), source_row) = eos_id;
    const auto target_row = target.begin() + r * target_length;
    *target_row = bos_id;
    std::copy(t.begin(), t.end(), target_row + 1);
    *std::copy(t.begin(), t.end(), wanted.begin() + r * target_length) = eos_id;
  }
}

void cut_batch(const Pairs& pairs, std::vector<std::int64_t>& batch, std::int64_t micro_tokens, int workers,
               std::vector<std::size_t>& ends) {
  std::sort(batch.begin(), batch.end(), [&](std::int64_t a, std::int64_t b) {
    const auto ta = pairs.target(a).size();
    const auto tb = pairs.target(b).size();
    if (ta != tb) return ta > tb;
    const auto sa = pairs.source(a).size();
    const auto sb = pairs.source(b).size();
    return sa != sb ? sa > sb : a < b;
  });
  const auto cost = [&](std::int64_t i) {
    return static_cast<std::int64_t>(pairs.target(i).size() + pairs.source(i).size()) + 2;
  };
  std::int64_t total = 0;
  std::int64_t target_tokens = 0;
  for (const std::int64_t i : batch) {
    total += cost(i);
    target_tokens += static_cast<std::int64_t>(pairs.target(i).size()) + 1;
  }
  std::int64_t groups = (target_tokens + micro_tokens - 1) / micro_tokens;
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
