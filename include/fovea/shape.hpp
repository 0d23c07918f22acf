// The sizes of a tensor's axes.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "fovea/export.hpp"

namespace FOVEA_API fovea {

/// Up to six axis sizes, stored inline. `Shape{2, 3}` is two rows of three.
class Shape {
 public:
  static constexpr int kMaxRank = 6;  // most axes

  Shape() = default;
  /// Throws ShapeError for more than kMaxRank sizes.
  Shape(std::initializer_list<std::int64_t> sizes);

  /// Number of axes.
  [[nodiscard]] int rank() const { return rank_; }
  /// The size of an axis; negative axes count from the end. Throws ShapeError when there is no such axis.
  [[nodiscard]] std::int64_t operator[](int axis) const { return sizes_[index(axis)]; }
  /// Changes the size of an axis.
  void set(int axis, std::int64_t size) { sizes_[index(axis)] = size; }
  void push_back(std::int64_t size);  // another axis behind the last
  /// The number of elements; 1 for rank 0.
  [[nodiscard]] std::int64_t size() const;
  /// The shape without its last axis.
  [[nodiscard]] Shape leading() const;
  [[nodiscard]] std::string text() const;  // "[2,3]"

  bool operator==(const Shape& other) const;  // the same sizes in the same order

 private:
  [[nodiscard]] std::size_t index(int axis) const;

  std::array<std::int64_t, kMaxRank> sizes_{};
  int rank_ = 0;
};

}  // namespace fovea
