#include "view/attention.hpp"

#include <fmt/format.h>

#include "fovea/error.hpp"

namespace fovea::view {

Matrix mean_of_heads(const std::vector<HeadWeights>& heads) {
  if (heads.empty()) return {};
  Matrix mean = heads.front().weights;
  for (std::size_t h = 1; h < heads.size(); ++h) {
    const Matrix& next = heads[h].weights;
    if (next.rows != mean.rows || next.columns != mean.columns) {
      throw ShapeError(
          fmt::format("mean of heads: [{},{}] and [{},{}] differ", mean.rows, mean.columns, next.rows, next.columns));
    }
    for (std::size_t i = 0; i < mean.values.size(); ++i) mean.values[i] += next.values[i];
  }
  for (float& value : mean.values) value /= static_cast<float>(heads.size());
  return mean;
}

Matrix chosen_weights(const AttentionPicture& picture, std::optional<int> layer, std::optional<int> head) {
  if (!layer && !head) return picture.weights;
  std::vector<HeadWeights> matching;
  for (const HeadWeights& one : picture.heads) {
    if ((!layer || one.layer == *layer) && (!head || one.head == *head)) matching.push_back(one);
  }
  if (matching.empty()) {
    const std::string wanted =
        (layer ? fmt::format(" layer {}", *layer) : "") + (head ? fmt::format(" head {}", *head) : "");
    throw UsageError(fmt::format("no weights of{}: the picture has {}", wanted,
                                 picture.heads.empty()
                                     ? "no single heads, which fovea run --all-heads writes"
                                     : fmt::format("{} heads of other numbers", picture.heads.size())));
  }
  return mean_of_heads(matching);
}

void check(const AttentionPicture& picture) {
  const auto rows = static_cast<std::int64_t>(picture.target.size());
  const auto columns = static_cast<std::int64_t>(picture.source.size());
  const auto fits = [&](const Matrix& m) {
    if (m.rows != rows || m.columns != columns || static_cast<std::int64_t>(m.values.size()) != rows * columns) {
      throw ShapeError(fmt::format("attention picture: weights [{},{}] for {} target and {} source tokens", m.rows,
                                   m.columns, rows, columns));
    }
  };
  fits(picture.weights);
  for (const HeadWeights& one : picture.heads) fits(one.weights);
}

}  // namespace fovea::view
