// Attention to a memory in several hops.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/attention/attend.hpp"
#include "fovea/nn/parameters.hpp"

namespace FOVEA_API fovea {

/// Sizes of MemoryNetwork.
struct MemoryNetworkOptions {
  std::int64_t dim = 0;   // of queries, keys and values
  std::int64_t hops = 1;  // how often the memory is read
};

/// q_1 = q;  o_h = sum_j softmax_j(q_h . k_j) v_j,  q_{h+1} = (q_h + o_h) R_h  (key-value memory, Miller et al. 2016).
/// Without R, q_{h+1} = q_h + o_h, and with keys and values per hop it is the end-to-end memory network (Sukhbaatar et
/// al. 2015).
///
///     const MemoryNetwork network(parameters, "memory", {.dim = 64, .hops = 3});
///     const MemoryNetwork::Memory memories[] = {{keys, values}};
///     const Var answer = network(question, memories, lengths).state;
struct MemoryNetwork {
  /// What a hop reads.
  struct Memory {
    Var keys{}, values{};  // [B, Tk, d]
  };
  /// The state after the last hop, and the attention of all.
  struct Result {
    Var state{};                   // [B, Tq, d] after the last hop
    std::vector<Attended> hops{};  // the attention of each hop, weights when wanted
  };

  /// Without maps: no weights.
  explicit MemoryNetwork(std::int64_t hop_count = 1) : hops(hop_count) {}
  /// Weights NAME.map.0, NAME.map.1 ..., one per hop.
  MemoryNetwork(Parameters& p, const std::string& name, const MemoryNetworkOptions& options);

  /// The same memory at every hop, or one for each.
  [[nodiscard]] Result operator()(const Var& query, std::span<const Memory> memories,
                                  std::span<const std::int64_t> lengths = {}, const WeightsRequest& want = {}) const;

  std::int64_t hops = 1;    // how often the memory is read
  std::vector<Var> maps{};  // R_h, [d, d] each, one per hop; empty: none
};

}  // namespace fovea
