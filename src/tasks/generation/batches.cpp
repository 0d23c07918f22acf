#include "tasks/generation/batches.hpp"

#include <algorithm>
#include <vector>

#include "fovea/threads.hpp"

namespace fovea {
namespace {

// What hypotheses keep of their steps is most of the memory, and with more of them than this it leaves the caches:
// decoding becomes no faster.
constexpr int kHypotheses = 96;
constexpr int kUsualBeam = 5;

}  // namespace

void decode_in_batches(std::span<const std::int64_t> lengths, const BatchLimits& limits,
                       const std::function<void(std::size_t begin, std::size_t end)>& decode) {
  const auto workers = static_cast<std::size_t>(threads());
  const std::size_t share = (lengths.size() + workers - 1) / workers;
  const std::int64_t tokens = limits.tokens * kUsualBeam / std::max(kUsualBeam, limits.beam);
  const auto most = static_cast<std::size_t>(std::max(1, kHypotheses / limits.beam));
  std::vector<std::size_t> ends;
  for (std::size_t begin = 0; begin < lengths.size();) {
    const auto fit = static_cast<std::size_t>(std::max<std::int64_t>(1, tokens / lengths[begin]));
    begin += std::min({fit, most, share, lengths.size() - begin});
    ends.push_back(begin);
  }
  if (ends.size() == 1) {
    decode(0, ends[0]);  // not as a chunk of parallel_for, inside which nothing is shared out
    return;
  }
  parallel_for(static_cast<std::int64_t>(ends.size()), 1, [&](std::int64_t from, std::int64_t to) {
    for (auto b = static_cast<std::size_t>(from); b < static_cast<std::size_t>(to); ++b) {
      decode(b == 0 ? 0 : ends[b - 1], ends[b]);
    }
  });
}

}  // namespace fovea
