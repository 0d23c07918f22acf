// Which keys a query may attend to. The position of query i is i + keys - queries: the last query is aligned with the
// last key, so that a decoder's few queries line up with its longer cache.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "fovea/var.hpp"

namespace FOVEA_API fovea {

/// Which pairs of query and key are visible: bytes, 0 = hidden, all else = visible, broadcastable to [batch, heads,
/// queries, keys]. Copying copies the handle.
class Mask {
 public:
  Mask() = default;  // everything is visible
  /// Copies `allowed`. Throws ShapeError unless there are shape.size() of them.
  [[nodiscard]] static Mask of(const Shape& shape, std::span<const std::uint8_t> allowed);
  /// The shape.size() bytes as they are, without a copy: what read_npy_truths gives.
  [[nodiscard]] static Mask share(const Shape& shape, std::shared_ptr<const std::uint8_t> allowed);

  /// Whether anything may be hidden.
  explicit operator bool() const { return bytes_ != nullptr; }
  /// As it was given to of().
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const std::uint8_t* data() const { return bytes_.get(); }  // the bytes, row-major

 private:
  Shape shape_;
  std::shared_ptr<const std::uint8_t> bytes_;
};

/// Luong et al. 2015, section 3.2: query i attends only to keys within half_width of its centre; the weights are
/// multiplied by exp(-(j - centre)^2 / (2 sigma^2)), sigma = half_width / 2, if gaussian. Local-m: no centre given,
/// query i's is i. Local-p: the centre is predicted, see predict_centers.
struct Local {
  std::int64_t half_width = 10;  // D: keys from centre - D to centre + D
  Var centers{};                 // [B, queries] or [B, H, queries], optional
  bool gaussian = false;         // weigh keys by their distance from the centre
};

/// S sigmoid(v . tanh(W q)) for q [B, T, dq]: [B, T]; S = lengths[b], or `keys` where no lengths are given.
[[nodiscard]] Var predict_centers(const Var& query, const Var& w /* [h, dq] */, const Var& v /* [h] */,
                                  std::int64_t keys, std::span<const std::int64_t> lengths = {});

/// Query i attends to the keys column[row_start[i]] to column[row_start[i + 1] - 1], in every sequence and head:
/// attention on a graph. Work and memory grow with the edges, not with queries * keys.
struct Edges {
  std::span<const std::int64_t> row_start{};  // [queries + 1]
  std::span<const std::int64_t> column{};     // [edges], each 0 to keys - 1
};

}  // namespace fovea
