#include "text/pairs.hpp"

#include <algorithm>

#include "base/rng.hpp"

namespace fovea::text {

PairsSummary summarize(const Pairs& pairs) {
  PairsSummary all;
  const auto add = [&all](std::span<const std::int32_t> ids) {
    all.hash = mix64(all.hash ^ ids.size());
    for (const std::int32_t id : ids) all.hash = mix64(all.hash ^ static_cast<std::uint64_t>(id));
  };
  for (std::int64_t i = 0; i < pairs.size(); ++i) {
    const auto source = pairs.source(i);
    const auto target = pairs.target(i);
    add(source);
    add(target);
    if (const auto copies = pairs.copies(i); !copies.empty()) add(copies);
    const auto longer = static_cast<std::int64_t>(std::max(source.size(), target.size())) + 1;
    all.tokens += longer;
    all.longest = std::max(all.longest, longer);
  }
  return all;
}

}  // namespace fovea::text
