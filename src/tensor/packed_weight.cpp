#include "fovea/packed_weight.hpp"

#include <cstring>

#include "fovea/error.hpp"
#include "kernels/gemm.hpp"
#include "kernels/packed_layout.hpp"
#include "tensor/matrix_of.hpp"

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

std::unique_ptr<const kernels::PackedMatrix> packed(const Int8Matrix& w) {
  if (!PackedWeight::fits(w)) throw UsageError("packed weight: the matrix does not fit products in int8");
  const bool in_out = w.layout() == MatrixLayout::in_out;
  return std::make_unique<kernels::PackedMatrix>(in_out ? kernels::Trans::no : kernels::Trans::yes,
                                                 in_out ? w.rows : w.columns, in_out ? w.columns : w.rows, w.q.data(),
                                                 w.columns, w.scale.data());
}

}  // namespace

const kernels::PackedMatrix& matrix_of(const PackedWeight& weight) {
  return *weight.matrix_;
}

PackedWeight::PackedWeight(const Int8Matrix& w) : matrix_(packed(w)) {}
PackedWeight::PackedWeight(const Tensor& w, MatrixLayout layout, Storage storage)
    : matrix_(packed(w.contiguous(), layout, storage)) {}
PackedWeight::PackedWeight(const PackedWeight& from, std::span<const std::int32_t> outputs)
    : matrix_(std::make_unique<kernels::PackedMatrix>(*from.matrix_, outputs)) {}
PackedWeight::~PackedWeight() = default;

bool PackedWeight::fits(const Int8Matrix& w) {
  const std::int64_t in = w.layout() == MatrixLayout::in_out ? w.rows : w.columns;
  return in <= kernels::kInt8Longest && (w.q.empty() || std::memchr(w.q.data(), 0x80, w.q.size()) == nullptr);
}

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
