// Reading a memory in several hops.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/attention/multi_head.hpp"

namespace fovea {

/// q_1 = q;  o_h = sum_j softmax_j(q_h . k_j) v_j,  q_{h+1} = (q_h + o_h) R_h  (key-value memory, Miller et al. 2016).
/// Without R, q_{h+1} = q_h + o_h, and with keys and values per hop it is the end-to-end memory network (Sukhbaatar et
/// al. 2015).
struct MemoryNetwork {
  std::int64_t hops = 1;
  std::vector<Var> maps{};  // R_h, [d, d] each, one per hop; empty: none

  struct Memory {
    Var keys{}, values{};  // [B, Tk, d]
  };
  struct Read {
    Var state{};                   // [B, Tq, d] after the last hop
    std::vector<Attended> hops{};  // what each hop saw, weights when wanted
  };

  [[nodiscard]] static MemoryNetwork make(std::int64_t hops, std::int64_t dim, std::uint64_t seed);
  /// The same memory at every hop, or one for each.
  [[nodiscard]] Read operator()(const Var& query, std::span<const Memory> memories,
                                std::span<const std::int64_t> lengths = {}, const WeightsRequest& want = {}) const;
  [[nodiscard]] NamedVars parameters() const;
};

}  // namespace fovea
