#include "fovea/packed_weight.hpp"

#include <utility>

#include "kernels/gemm.hpp"
#include "kernels/packed_layout.hpp"
#include "kernels/packed_matrix.hpp"

namespace fovea {
namespace {

std::unique_ptr<const kernels::PackedMatrix> packed(const Tensor& w, MatrixLayout layout, Storage storage) {
  using kernels::PackedMatrix;
  using kernels::Trans;
  if (layout == MatrixLayout::in_out) {
    return std::make_unique<PackedMatrix>(Trans::no, w.dim(0), w.dim(1), w.data(), w.dim(1), storage);
  }
  return std::make_unique<PackedMatrix>(Trans::yes, w.dim(1), w.dim(0), w.data(), w.dim(1), storage);
}

}  // namespace

PackedWeight::PackedWeight(const Tensor& w, MatrixLayout layout, Storage storage)
    : matrix_(packed(w.contiguous(), layout, storage)) {}
PackedWeight::PackedWeight(const PackedWeight& from, std::span<const std::int32_t> outputs)
    : matrix_(std::make_unique<kernels::PackedMatrix>(from.matrix(), outputs)) {}
PackedWeight::PackedWeight(const kernels::PackedLayout& layout, const void* memory, std::shared_ptr<const void> owner)
    : matrix_(std::make_unique<kernels::PackedMatrix>(layout, memory)), owner_(std::move(owner)) {}
PackedWeight::~PackedWeight() = default;

Storage PackedWeight::storage() const {
  return matrix_->storage();
}
std::int64_t PackedWeight::in() const {
  return matrix_->rows();
}
std::int64_t PackedWeight::out() const {
  return matrix_->columns();
}
std::size_t PackedWeight::bytes() const {
  return matrix_->bytes();
}

Tensor PackedWeight::unpacked(MatrixLayout layout) const {
  const bool by_rows = layout == MatrixLayout::in_out;
  Tensor out = Tensor::empty(by_rows ? Shape{in(), this->out()} : Shape{this->out(), in()});
  kernels::unpack(matrix_->layout(), matrix_->memory(), out.data(), by_rows ? out.dim(1) : 1, by_rows ? 1 : out.dim(1));
  return out;
}

Tensor PackedWeight::product(const Tensor& x, const Tensor& bias, Activation activation) const {
  const Tensor rows = x.contiguous();
  Shape shape = rows.shape();
  shape.set(-1, out());
  Tensor y = Tensor::empty(shape);
  kernels::parallel_gemm_packed(rows.size() / in(), rows.data(), in(), *matrix_, 0.0F, y.data(), out(),
                                {.bias = bias ? bias.data() : nullptr, .activation = activation});
  return y;
}

}  // namespace fovea
