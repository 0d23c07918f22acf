// Sequences laid one after the other with zero rows between them, so that windows over time are rows of a matrix.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/arena.hpp"
#include "fovea/tensor.hpp"

namespace fovea {

/// A frame array [rows(), width] holds every real step of a padded batch [B, T, width], and `gap` zero rows before,
/// between and after the sequences. A window of K <= gap + 1 steps that touches a sequence meets only it and zeros;
/// and since rows are `width` apart, the windows themselves are a matrix [.., K width] whose rows overlap: a product
/// reads them in place. Windows over a gap's own steps are computed for nothing and left out of the result.
class Frames {
 public:
  /// Throws ShapeError naming `op` unless there are no or `batch` lengths, each 0 to `steps`.
  Frames(const char* op, std::int64_t batch, std::int64_t steps, std::span<const std::int64_t> lengths,
         std::int64_t gap);

  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(user_row_.size()); }
  [[nodiscard]] std::int64_t gap() const { return gap_; }
  /// The row of the user's array [B T, ..] at a frame row; -1 in a gap.
  [[nodiscard]] std::int64_t user_row(std::int64_t row) const { return user_row_[static_cast<std::size_t>(row)]; }

  /// The user's rows as a frame array.
  [[nodiscard]] Tensor frame(const Tensor& padded) const;
  /// Adds or writes frame rows to the user's; writing puts zeros where there is padding.
  void unframe(const Tensor& frames, const Tensor& padded, bool add) const;
  /// Writes zeros to the rows of the user's array that are padding.
  void zero_padding(const Tensor& padded) const;

 private:
  template <class T>
  using Vector = std::vector<T, ArenaAllocator<T>>;

  std::int64_t batch_;
  std::int64_t steps_;
  std::int64_t gap_;
  Vector<std::int64_t> length_;
  Vector<std::int64_t> user_row_;
};

}  // namespace fovea
