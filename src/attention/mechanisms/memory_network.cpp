#include "fovea/attention/memory_network.hpp"

#include <fmt/format.h>

#include "attention/mechanisms/small_ops.hpp"
#include "attention/project.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {

MemoryNetwork MemoryNetwork::make(std::int64_t hops, std::int64_t dim, std::uint64_t seed) {
  Rng rng(seed);
  MemoryNetwork m{.hops = hops};
  for (std::int64_t h = 0; h < hops; ++h) m.maps.push_back(attention::xavier(dim, dim, rng));
  return m;
}

MemoryNetwork::Read MemoryNetwork::operator()(const Var& query, std::span<const Memory> memories,
                                              std::span<const std::int64_t> lengths, const WeightsRequest& want) const {
  const auto count = static_cast<std::size_t>(hops);
  if (hops < 1 || (memories.size() != 1 && memories.size() != count) || (!maps.empty() && maps.size() != count)) {
    throw UsageError(
        fmt::format("memory_network: {} hops with {} memories and {} maps: expected one memory or one per "
                    "hop, no maps or one per hop",
                    hops, memories.size(), maps.size()));
  }
  Read read{.state = query};
  for (std::size_t h = 0; h < count; ++h) {
    const Memory& memory = memories[memories.size() == 1 ? 0 : h];
    read.hops.push_back(
        attend(read.state, memory.keys, memory.values, {.score = score::Dot{}, .lengths = lengths, .want = want}));
    read.state = add(read.state, read.hops.back().context);
    if (!maps.empty()) read.state = attention::project_plain(read.state, maps[h], {});
  }
  return read;
}

NamedVars MemoryNetwork::parameters() const {
  NamedVars all;
  for (std::size_t h = 0; h < maps.size(); ++h) all.emplace_back(fmt::format("map.{}", h), maps[h]);
  return all;
}

}  // namespace fovea
