// All hypotheses of a search as one tree: a node is a token that follows its parent's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/decode/search.hpp"

namespace fovea {

class HypothesisTree {
 public:
  struct Node {
    std::int32_t parent;  // -1: none, it is the first token
    std::int32_t token;
    float total;  // log-probability up to here
    std::int32_t sentence;
  };

  /// Gives the node's number. `weights`: what the token attended to; empty: not kept.
  std::int32_t append(const Node& node, std::span<const float> weights);
  [[nodiscard]] const Node& operator[](std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)]; }
  /// The log-probability up to a node; 0 before the first.
  [[nodiscard]] float total(std::int32_t node) const { return node < 0 ? 0.0F : (*this)[node].total; }
  /// The nodes from the first token to this one.
  void path(std::int32_t node, std::vector<std::int32_t>& nodes) const;
  /// The tokens from the first to this node's.
  void tokens(std::int32_t node, std::vector<std::int32_t>& tokens) const;
  [[nodiscard]] std::span<const float> weights(std::int32_t node) const;
  /// How much of a source of this length was attended to up to a node: the sum of log min(1, weight received).
  [[nodiscard]] float coverage(std::int32_t node, std::int64_t width) const;

  /// A tree for each sentence, numbered anew behind a root of its own. `best`: the end of each one's output, or -1.
  [[nodiscard]] std::vector<BeamTree> of_sentences(std::span<const std::int32_t> best, std::int32_t begin,
                                                   std::int32_t end) const;

 private:
  struct Weights {
    std::int64_t first, count;
  };
  std::vector<Node> nodes_;
  std::vector<Weights> kept_;  // of each node, in weights_
  std::vector<float> weights_;
};

}  // namespace fovea
