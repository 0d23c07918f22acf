// One sentence's attention, as plain numbers: what every drawing takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fovea::view {

/// Numbers in rows and columns, row after row.
struct Matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<float> values;  // [rows, columns]
  [[nodiscard]] float at(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
};

/// The weights of one head of one layer, both counted from 0.
struct HeadWeights {
  int layer = 0;
  int head = 0;
  Matrix weights;  // [target, source]
};

/// What each target token looked at in the source.
struct AttentionPicture {
  std::string title;
  std::vector<std::string> source;
  std::vector<std::string> target;
  Matrix weights;                  // [target, source]: the model's own choice, or the mean of the heads
  std::vector<HeadWeights> heads;  // none, or some or all of the heads one by one
};

/// The weights to draw: the picture's own; or, given a layer or a head or both, the mean of the heads that match.
/// Throws UsageError when none does.
[[nodiscard]] Matrix chosen_weights(const AttentionPicture& picture, std::optional<int> layer = {},
                                    std::optional<int> head = {});

/// The mean over the heads, each [rows, columns]. Throws ShapeError when their shapes differ.
[[nodiscard]] Matrix mean_of_heads(const std::vector<HeadWeights>& heads);

/// Throws ShapeError unless every weights matrix is [target, source].
void check(const AttentionPicture& picture);

}  // namespace fovea::view
