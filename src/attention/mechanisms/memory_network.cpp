#include "fovea/attention/memory_network.hpp"

#include <fmt/format.h>

#include "attention/mechanisms/weights.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {

MemoryNetwork::MemoryNetwork(Parameters& p, const std::string& name, const MemoryNetworkOptions& options)
    : hops(options.hops) {
  attention::require_sizes(name, {{"hops", options.hops}, {"dim", options.dim}});
  for (std::int64_t h = 0; h < hops; ++h) {
    maps.push_back(p.get(fmt::format("{}.map.{}", name, h), {options.dim, options.dim}, Init::xavier));
  }
}

MemoryNetwork::Result MemoryNetwork::operator()(const Var& query, std::span<const Memory> memories,
                                                std::span<const std::int64_t> lengths,
                                                const WeightsRequest& want) const {
  const auto count = static_cast<std::size_t>(hops);
  if (hops < 1 || (memories.size() != 1 && memories.size() != count) || (!maps.empty() && maps.size() != count)) {
    throw UsageError(
        fmt::format("memory_network: {} hops with {} memories and {} maps: expected one memory or one per "
                    "hop, no maps or one per hop",
                    hops, memories.size(), maps.size()));
  }
  Result result{.state = query};
  for (std::size_t h = 0; h < count; ++h) {
    const Memory& memory = memories[memories.size() == 1 ? 0 : h];
    result.hops.push_back(
        attend(result.state, memory.keys, memory.values, {.score = score::Dot{}, .lengths = lengths, .want = want}));
    result.state = add(result.state, result.hops.back().context);
    if (!maps.empty()) result.state = linear(result.state, maps[h]);
  }
  return result;
}

}  // namespace fovea
