// Arrays of float32.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>

#include "fovea/shape.hpp"

namespace FOVEA_API fovea {

/// A float32 array: a shape, strides and a share in 64-byte aligned memory. Row-major when it is made; views
/// (reshape, slice, select, transpose) share the memory. Copying a Tensor copies the handle; clone() copies the data.
class Tensor {
 public:
  Tensor() = default;  // holds nothing; false in a condition
  Tensor(const Tensor& other) noexcept;
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(const Tensor& other) noexcept;
  Tensor& operator=(Tensor&& other) noexcept;
  ~Tensor();

  [[nodiscard]] static Tensor empty(const Shape& shape);              // values are undefined
  [[nodiscard]] static Tensor zeros(const Shape& shape);              // all 0
  [[nodiscard]] static Tensor full(const Shape& shape, float value);  // all the same
  /// One value, stored once, in every place: not contiguous, and not to be written to.
  [[nodiscard]] static Tensor repeated(const Shape& shape, float value);
  /// Copies `values`. Throws ShapeError unless there are exactly shape.size() of them.
  [[nodiscard]] static Tensor of(const Shape& shape, std::span<const float> values);
  /// Copies a list: Tensor::of({2, 2}, {1, 2, 3, 4}).
  [[nodiscard]] static Tensor of(const Shape& shape, std::initializer_list<float> values);
  /// A view of memory that the caller owns and keeps alive.
  [[nodiscard]] static Tensor borrow(float* data, const Shape& shape);
  /// A view of memory that `owner` keeps alive; the tensor and all views of it hold a share of the owner.
  [[nodiscard]] static Tensor share(float* data, const Shape& shape, std::shared_ptr<void> owner);

  /// Whether it holds anything.
  explicit operator bool() const { return data_ != nullptr; }
  /// Sizes of its axes.
  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// Number of axes.
  [[nodiscard]] int rank() const { return shape_.rank(); }
  /// Size of an axis; a negative one counts from the last.
  [[nodiscard]] std::int64_t dim(int axis) const { return shape_[axis]; }
  /// Number of values.
  [[nodiscard]] std::int64_t size() const { return data_ == nullptr ? 0 : shape_.size(); }
  /// Values from one index of an axis to the next.
  [[nodiscard]] std::int64_t stride(int axis) const { return strides_[axis]; }
  /// The first value.
  [[nodiscard]] float* data() const { return data_; }
  /// All values in order. Throws ShapeError when the tensor is not contiguous.
  [[nodiscard]] std::span<float> values() const;
  /// The only value of a tensor of size 1.
  [[nodiscard]] float item() const;
  [[nodiscard]] bool is_contiguous() const;  // whether values() can be called
  /// Whether no other Tensor shares the memory.
  [[nodiscard]] bool unique() const;

  /// The same values in another shape; one axis may be -1. Throws ShapeError when the sizes differ.
  [[nodiscard]] Tensor reshape(const Shape& shape) const;
  [[nodiscard]] Tensor slice(int axis, std::int64_t begin, std::int64_t end) const;  // begin to end - 1 of an axis
  [[nodiscard]] Tensor select(int axis, std::int64_t index) const;                   // drops the axis
  [[nodiscard]] Tensor transpose(int a, int b) const;                                // exchanges two axes
  [[nodiscard]] Tensor contiguous() const;                                           // itself, or a packed copy
  [[nodiscard]] Tensor clone() const;                                                // a packed copy
  void fill(float value) const;                                                      // of all values
  void copy_from(const Tensor& other) const;                                         // same shape

 private:
  struct Block;
  Block* block_ = nullptr;  // null for borrowed memory
  float* data_ = nullptr;
  Shape shape_;
  Shape strides_;
};

}  // namespace fovea
