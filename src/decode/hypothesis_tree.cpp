#include "decode/hypothesis_tree.hpp"

#include <algorithm>
#include <cmath>

namespace fovea {

std::int32_t HypothesisTree::append(const Node& node, std::span<const float> weights) {
  kept_.push_back({static_cast<std::int64_t>(weights_.size()), static_cast<std::int64_t>(weights.size())});
  weights_.insert(weights_.end(), weights.begin(), weights.end());
  nodes_.push_back(node);
  return static_cast<std::int32_t>(nodes_.size() - 1);
}

void HypothesisTree::path(std::int32_t node, std::vector<std::int32_t>& nodes) const {
  nodes.clear();
  for (; node >= 0; node = (*this)[node].parent) nodes.push_back(node);
  std::reverse(nodes.begin(), nodes.end());
}

void HypothesisTree::tokens(std::int32_t node, std::vector<std::int32_t>& tokens) const {
  path(node, tokens);
  for (std::int32_t& n : tokens) n = (*this)[n].token;
}

std::span<const float> HypothesisTree::weights(std::int32_t node) const {
  const Weights& kept = kept_[static_cast<std::size_t>(node)];
  return {weights_.data() + kept.first, static_cast<std::size_t>(kept.count)};
}

float HypothesisTree::coverage(std::int32_t node, std::int64_t width) const {
  std::vector<float> received(static_cast<std::size_t>(width), 0.0F);
  for (; node >= 0; node = (*this)[node].parent) {
    const std::span<const float> given = weights(node);
    for (std::size_t j = 0; j < received.size(); ++j) received[j] += given[j];
  }
  float total = 0;
  for (const float r : received) total += std::log(std::clamp(r, 1e-6F, 1.0F));
  return total;
}

std::vector<BeamTree> HypothesisTree::of_sentences(std::span<const std::int32_t> best, std::int32_t begin,
                                                   std::int32_t end) const {
  std::vector<BeamTree> trees(best.size());
  for (BeamTree& tree : trees) tree.nodes.push_back({-1, 0, begin, 0.0F, false});
  std::vector<std::int32_t> number(nodes_.size());
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    auto& nodes = trees[static_cast<std::size_t>(node.sentence)].nodes;
    const std::int32_t parent = node.parent < 0 ? 0 : number[static_cast<std::size_t>(node.parent)];
    number[n] = static_cast<std::int32_t>(nodes.size());
    nodes.push_back(
        {parent, nodes[static_cast<std::size_t>(parent)].step + 1, node.token, node.total, node.token == end});
  }
  for (std::size_t s = 0; s < best.size(); ++s) {
    if (best[s] < 0) continue;
    BeamTree& tree = trees[s];
    for (std::int32_t n = number[static_cast<std::size_t>(best[s])]; n >= 0;
         n = tree.nodes[static_cast<std::size_t>(n)].parent) {
      tree.best.push_back(n);
    }
    std::reverse(tree.best.begin(), tree.best.end());
  }
  return trees;
}

}  // namespace fovea
