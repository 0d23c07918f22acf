#include "kernels/packed_matrix.hpp"

#include <algorithm>
#include <utility>

#include "base/arena.hpp"
#include "fovea/threads.hpp"
#include "kernels/gemm_kernels.hpp"
#include "kernels/kernels.hpp"

namespace fovea::kernels {

const Bf16Kernels* bf16_for(Precision wanted, std::int64_t k, std::int64_t n) {
  constexpr std::int64_t kSmall = 64 * 64;
  return wanted == Precision::bf16 && k * n > kSmall ? permitted_bf16() : nullptr;
}

PackedMatrix::PackedMatrix(Trans tb, std::int64_t k, std::int64_t n, const float* b, std::int64_t ldb, Precision wanted)
    : k_(k), n_(n), kernels_(active().gemm), bf16_(bf16_for(wanted, k, n)) {
  const std::int64_t width = bf16_ != nullptr ? kBf16Rows : kernels_->nr;
  const bool stored = tb == Trans::no;
  memory_ = arena_allocate(bytes());
  parallel_for((n + width - 1) / width, 16, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * width;
    const std::int64_t count = std::min(end * width, n) - first;
    const float* from = b + (stored ? first : first * ldb);
    if (bf16_ != nullptr) {
      const std::int64_t depth = bf16_depth(k);
      (stored ? bf16_->pack_b : bf16_->pack_b_transposed)(
          k, count, from, ldb, static_cast<Bf16*>(memory_) + first * depth, kBf16Rows * depth);
    } else {
      (stored ? kernels_->pack_b : kernels_->pack_b_transposed)(k, count, from, ldb,
                                                                static_cast<float*>(memory_) + first * k);
    }
  });
}

PackedMatrix::PackedMatrix(PackedMatrix&& other) noexcept {
  *this = std::move(other);
}

PackedMatrix& PackedMatrix::operator=(PackedMatrix&& other) noexcept {
  std::swap(k_, other.k_);
  std::swap(n_, other.n_);
  std::swap(kernels_, other.kernels_);
  std::swap(bf16_, other.bf16_);
  std::swap(memory_, other.memory_);
  return *this;
}

PackedMatrix::~PackedMatrix() {
  arena_release(memory_);
}

std::size_t PackedMatrix::bytes() const {
  if (kernels_ == nullptr) return 0;
  if (bf16_ != nullptr) {
    return static_cast<std::size_t>((n_ + kBf16Rows - 1) / kBf16Rows * kBf16Rows * bf16_depth(k_)) * sizeof(Bf16);
  }
  const std::int64_t nr = kernels_->nr;
  return static_cast<std::size_t>((n_ + nr - 1) / nr * nr * k_) * sizeof(float);
}

}  // namespace fovea::kernels
