#include "fovea/tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "base/arena.hpp"
#include "fovea/error.hpp"

namespace fovea {

// The first cache line of the arena block holds the count of shares, the rest the values; or the values are
// elsewhere and `owner` keeps them.
struct Tensor::Block {
  std::atomic<int> shares{1};
  std::shared_ptr<void> owner;
};

namespace {

constexpr std::size_t kHead = 64;
static_assert(sizeof(std::atomic<int>) + sizeof(std::shared_ptr<void>) < kHead);

Shape row_major(const Shape& shape) {
  Shape strides = shape;
  std::int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides.set(i, stride);
    stride *= shape[i];
  }
  return strides;
}

int axis_index(const char* what, const Shape& shape, int axis) {
  const int i = axis < 0 ? axis + shape.rank() : axis;
  if (i < 0 || i >= shape.rank()) throw ShapeError(fmt::format("{}: {} has no axis {}", what, shape.text(), axis));
  return i;
}

// Copies strided values to packed ones; the innermost axis in one go where it is packed already.
void gather(float* out, const float* in, const Shape& shape, const Shape& strides, int axis) {
  if (axis == shape.rank()) {
    *out = *in;
    return;
  }
  if (axis == shape.rank() - 1 && strides[axis] == 1) {
    std::memcpy(out, in, static_cast<std::size_t>(shape[axis]) * sizeof(float));
    return;
  }
  std::int64_t inner = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  for (std::int64_t i = 0; i < shape[axis]; ++i) {
    gather(out + i * inner, in + i * strides[axis], shape, strides, axis + 1);
  }
}

void scatter(const float* in, float* out, const Shape& shape, const Shape& strides, int axis) {
  if (axis == shape.rank()) {
    *out = *in;
    return;
  }
  std::int64_t inner = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  for (std::int64_t i = 0; i < shape[axis]; ++i) {
    scatter(in + i * inner, out + i * strides[axis], shape, strides, axis + 1);
  }
}

}  // namespace

Tensor::Tensor(const Tensor& other) noexcept
    : block_(other.block_), data_(other.data_), shape_(other.shape_), strides_(other.strides_) {
  if (block_ != nullptr) block_->shares.fetch_add(1, std::memory_order_relaxed);
}

Tensor::Tensor(Tensor&& other) noexcept
    : block_(std::exchange(other.block_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      shape_(std::exchange(other.shape_, {})),
      strides_(std::exchange(other.strides_, {})) {}

Tensor& Tensor::operator=(const Tensor& other) noexcept {
  if (this != &other) *this = Tensor(other);
  return *this;
}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  Tensor taken(std::move(other));  // what this held ends with it, here
  std::swap(block_, taken.block_);
  std::swap(data_, taken.data_);
  std::swap(shape_, taken.shape_);
  std::swap(strides_, taken.strides_);
  return *this;
}

Tensor::~Tensor() {
  if (block_ == nullptr || block_->shares.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  block_->~Block();
  arena_release(block_);
}

Tensor Tensor::empty(const Shape& shape) {
  const std::int64_t size = shape.size();
  if (size > (std::int64_t{1} << 43)) throw OutOfMemory("out of memory: a tensor of shape " + shape.text());
  Tensor t;
  t.block_ = new (arena_allocate(kHead + static_cast<std::size_t>(size) * sizeof(float))) Block;
  t.data_ = reinterpret_cast<float*>(reinterpret_cast<std::byte*>(t.block_) + kHead);
  t.shape_ = shape;
  t.strides_ = row_major(shape);
  return t;
}

Tensor Tensor::zeros(const Shape& shape) {
  return full(shape, 0.0F);
}

Tensor Tensor::full(const Shape& shape, float value) {
  Tensor t = empty(shape);
  t.fill(value);
  return t;
}

Tensor Tensor::repeated(const Shape& shape, float value) {
  Tensor t = full({1}, value);
  t.shape_ = shape;
  t.strides_ = shape;
  for (int i = 0; i < shape.rank(); ++i) t.strides_.set(i, 0);
  return t;
}

Tensor Tensor::of(const Shape& shape, std::span<const float> values) {
  if (shape.size() != static_cast<std::int64_t>(values.size())) {
    throw ShapeError(fmt::format("tensor: {} values do not fill {}", values.size(), shape.text()));
  }
  Tensor t = empty(shape);
  std::copy(values.begin(), values.end(), t.data_);
  return t;
}

Tensor Tensor::of(const Shape& shape, std::initializer_list<float> values) {
  return of(shape, std::span<const float>(values.begin(), values.size()));
}

Tensor Tensor::borrow(float* data, const Shape& shape) {
  (void)shape.size();  // refuses what cannot be
  Tensor t;
  t.data_ = data;
  t.shape_ = shape;
  t.strides_ = row_major(shape);
  return t;
}

Tensor Tensor::share(float* data, const Shape& shape, std::shared_ptr<void> owner) {
  Tensor t = borrow(data, shape);
  t.block_ = new (arena_allocate(sizeof(Block))) Block{.owner = std::move(owner)};
  return t;
}

std::span<float> Tensor::values() const {
  if (!is_contiguous()) throw ShapeError("values: a view of shape " + shape_.text() + " is not contiguous");
  return {data_, static_cast<std::size_t>(size())};
}

float Tensor::item() const {
  if (!data_ || size() != 1) throw ShapeError("item: " + shape_.text() + " holds not exactly one value");
  return *data_;
}

bool Tensor::is_contiguous() const {
  std::int64_t stride = 1;
  for (int i = rank() - 1; i >= 0; --i) {
    if (shape_[i] != 1 && strides_[i] != stride) return false;
    stride *= shape_[i];
  }
  return true;
}

bool Tensor::unique() const {
  return block_ != nullptr && block_->shares.load(std::memory_order_acquire) == 1;
}

Tensor Tensor::reshape(const Shape& wanted) const {
  Shape shape = wanted;
  int open = 0;
  while (open < shape.rank() && shape[open] != -1) ++open;
  if (open < shape.rank()) {
    shape.set(open, 1);
    const std::int64_t known = shape.size();
    shape.set(open, known > 0 && size() % known == 0 ? size() / known : 0);
  }
  if (shape.size() != size()) {
    throw ShapeError(fmt::format("reshape: {} cannot become {}", shape_.text(), wanted.text()));
  }
  Tensor t = contiguous();
  t.shape_ = shape;
  t.strides_ = row_major(shape);
  return t;
}

Tensor Tensor::slice(int axis, std::int64_t begin, std::int64_t end) const {
  const int i = axis_index("slice", shape_, axis);
  if (begin < 0 || end < begin || end > shape_[i]) {
    throw ShapeError(fmt::format("slice: {} to {} is outside axis {} of {}", begin, end, axis, shape_.text()));
  }
  Tensor t = *this;
  t.data_ += begin * strides_[i];
  t.shape_.set(i, end - begin);
  return t;
}

Tensor Tensor::select(int axis, std::int64_t index) const {
  const int i = axis_index("select", shape_, axis);
  if (index < 0 || index >= shape_[i]) {
    throw ShapeError(fmt::format("select: {} is outside axis {} of {}", index, axis, shape_.text()));
  }
  Tensor t = slice(i, index, index + 1);
  Shape shape;
  Shape strides;
  for (int k = 0; k < rank(); ++k) {
    if (k == i) continue;
    shape.push_back(shape_[k]);
    strides.push_back(strides_[k]);
  }
  t.shape_ = shape;
  t.strides_ = strides;
  return t;
}

Tensor Tensor::transpose(int a, int b) const {
  const int i = axis_index("transpose", shape_, a);
  const int j = axis_index("transpose", shape_, b);
  Tensor t = *this;
  t.shape_.set(i, shape_[j]);
  t.shape_.set(j, shape_[i]);
  t.strides_.set(i, strides_[j]);
  t.strides_.set(j, strides_[i]);
  return t;
}

Tensor Tensor::contiguous() const {
  return is_contiguous() ? *this : clone();
}

Tensor Tensor::clone() const {
  if (data_ == nullptr) return {};
  Tensor t = empty(shape_);
  if (is_contiguous()) {
    std::copy_n(data_, size(), t.data_);
  } else if (size() > 0) {
    gather(t.data_, data_, shape_, strides_, 0);
  }
  return t;
}

void Tensor::fill(float value) const {
  if (!is_contiguous()) throw ShapeError("fill: a view of shape " + shape_.text() + " is not contiguous");
  std::fill_n(data_, size(), value);
}

void Tensor::copy_from(const Tensor& other) const {
  if (!(other.shape_ == shape_)) {
    throw ShapeError(fmt::format("copy: {} does not fit into {}", other.shape_.text(), shape_.text()));
  }
  const Tensor packed = other.contiguous();
  if (is_contiguous()) {
    std::copy_n(packed.data_, size(), data_);
  } else if (size() > 0) {
    scatter(packed.data_, data_, shape_, strides_, 0);
  }
}

}  // namespace fovea
