// A little language that any encoder-decoder learns in seconds: the target is the source, backwards.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/rng.hpp"
#include "fovea/text/tokens.hpp"
#include "text/pairs.hpp"

namespace fovea::test {

class BackwardsTask final : public text::Pairs {
 public:
  BackwardsTask(int count, int words, int longest, std::uint64_t seed) {
    Rng rng(seed);
    for (int i = 0; i < count; ++i) {
      std::vector<std::int32_t> line(1 + rng.below(static_cast<std::uint64_t>(longest)));
      for (auto& id : line) id = special_ids + static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(words)));
      source_.push_back(line);
      std::reverse(line.begin(), line.end());
      target_.push_back(line);
    }
  }
  [[nodiscard]] std::int64_t size() const override { return static_cast<std::int64_t>(source_.size()); }
  [[nodiscard]] std::span<const std::int32_t> source(std::int64_t i) const override {
    return source_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] std::span<const std::int32_t> target(std::int64_t i) const override {
    return target_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] std::vector<std::int64_t> all() const {
    std::vector<std::int64_t> numbers(source_.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }

 private:
  std::vector<std::vector<std::int32_t>> source_, target_;
};

}  // namespace fovea::test
