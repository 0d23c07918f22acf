#include "kernels/packed_matrix.hpp"

#include <algorithm>
#include <utility>

#include "base/arena.hpp"
#include "fovea/threads.hpp"
#include "kernels/gemm_kernels.hpp"
#include "kernels/kernels.hpp"

namespace fovea::kernels {

PackedMatrix::PackedMatrix(Trans tb, std::int64_t k, std::int64_t n, const float* b, std::int64_t ldb,
                           Precision precision)
    : k_(k), n_(n), precision_(precision), kernels_(active().gemm) {
  memory_ = arena_allocate(bytes());
  const std::int64_t nr = kernels_->nr;
  float* to = static_cast<float*>(memory_);
  parallel_for((n + nr - 1) / nr, 16, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * nr;
    const std::int64_t count = std::min(end * nr, n) - first;
    if (tb == Trans::no) {
      kernels_->pack_b(k, count, b + first, ldb, to + first * k);
    } else {
      kernels_->pack_b_transposed(k, count, b + first * ldb, ldb, to + first * k);
    }
  });
}

PackedMatrix::PackedMatrix(PackedMatrix&& other) noexcept {
  *this = std::move(other);
}

PackedMatrix& PackedMatrix::operator=(PackedMatrix&& other) noexcept {
  std::swap(k_, other.k_);
  std::swap(n_, other.n_);
  std::swap(precision_, other.precision_);
  std::swap(kernels_, other.kernels_);
  std::swap(memory_, other.memory_);
  return *this;
}

PackedMatrix::~PackedMatrix() {
  arena_release(memory_);
}

std::size_t PackedMatrix::bytes() const {
  if (kernels_ == nullptr) return 0;
  const std::int64_t nr = kernels_->nr;
  return static_cast<std::size_t>((n_ + nr - 1) / nr * nr * k_) * sizeof(float);
}

}  // namespace fovea::kernels
