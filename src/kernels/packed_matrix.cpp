#include "kernels/packed_matrix.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/arena.hpp"
#include "base/require.hpp"
#include "fovea/threads.hpp"
#include "kernels/gemm_kernels.hpp"
#include "kernels/int8_weights.hpp"
#include "kernels/kernels.hpp"
#include "kernels/scratch.hpp"

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

PackedMatrix::PackedMatrix(Trans tb, std::int64_t k, std::int64_t n, const float* b, std::int64_t ldb, Storage stored)
    : k_(k), n_(n), kernels_(active().gemm), half_(active().half), int8_(active().int8), storage_(stored) {
  if (stored == Storage::f32) {
    *this = PackedMatrix(tb, k, n, b, ldb, precision());
    return;
  }
  storage_ = PackedLayout::of(stored, k, n).storage;
  memory_ = arena_allocate(bytes());
  if (storage_ == Storage::int8) {
    const Int8Source from = tb == Trans::no ? Int8Source{k, n, b, ldb, 1} : Int8Source{k, n, b, 1, ldb};
    auto* panels = static_cast<std::int8_t*>(memory_);
    auto* scales = const_cast<float*>(int8_scales());
    auto* sums = const_cast<std::int32_t*>(int8_sums());
    std::fill(scales + n, scales + (n + kInt8Columns - 1) / kInt8Columns * kInt8Columns, 0.0F);
    kernels::int8_scales(from, scales);
    parallel_for((n + kInt8Columns - 1) / kInt8Columns, 16, [&](std::int64_t begin, std::int64_t end) {
      int8_pack(from, scales, begin * kInt8Columns, std::min(end * kInt8Columns, n), panels, sums);
    });
    return;
  }
  const std::int64_t nr = kernels_->nr;
  parallel_for((n + nr - 1) / nr, 4, [&](std::int64_t begin, std::int64_t end) {
    thread_local Scratch scratch;
    float* panel = scratch.get(static_cast<std::size_t>(k * nr));
    for (std::int64_t j = begin * nr; j < std::min(end * nr, n); j += nr) {
      const std::int64_t count = std::min(nr, n - j);
      if (count < nr) std::fill_n(panel, k * nr, 0.0F);
      (tb == Trans::no ? kernels_->pack_b : kernels_->pack_b_transposed)(k, count, b + (tb == Trans::no ? j : j * ldb),
                                                                         ldb, panel);
      half_->narrow(k * nr, panel, static_cast<Half*>(memory_) + j * k);
    }
  });
}

PackedMatrix::PackedMatrix(const PackedMatrix& from, std::span<const std::int32_t> columns)
    : k_(from.k_),
      n_(static_cast<std::int64_t>(columns.size())),
      kernels_(from.kernels_),
      half_(from.half_),
      int8_(from.int8_),
      storage_(from.storage_) {
  require(storage_ == Storage::int8, "columns", columns.size(), "they are taken out of a matrix in int8");
  memory_ = arena_allocate(bytes());
  const PackedLayout layout = this->layout();
  const std::int64_t panel = kInt8Columns * int8_depth(k_);
  constexpr std::int64_t kFour = kInt8Columns * 4;  // 4 of k in all columns of a panel
  auto* panels = static_cast<std::int8_t*>(memory_);
  auto* scales = const_cast<float*>(int8_scales());
  auto* sums = const_cast<std::int32_t*>(int8_sums());
  if (layout.columns() > n_)
    std::fill_n(panels + layout.columns() / kInt8Columns * panel - panel, panel, std::int8_t{0});
  std::fill(scales + n_, scales + layout.columns(), 0.0F);
  std::fill(sums + n_, sums + layout.columns(), 0);
  for (std::int64_t i = 0; i < n_; ++i) {
    const std::int64_t j = columns[static_cast<std::size_t>(i)];
    const std::int8_t* in = from.bytes_of_int8() + j / kInt8Columns * panel + j % kInt8Columns * 4;
    std::int8_t* out = panels + i / kInt8Columns * panel + i % kInt8Columns * 4;
    for (std::int64_t at = 0; at < panel; at += kFour) std::memcpy(out + at, in + at, 4);
    scales[i] = from.int8_scales()[j];
    sums[i] = from.int8_sums()[j];
  }
}

PackedMatrix::PackedMatrix(Trans tb, std::int64_t k, std::int64_t n, const std::int8_t* b, std::int64_t ldb,
                           const float* scales)
    : k_(k), n_(n), kernels_(active().gemm), half_(active().half), int8_(active().int8), storage_(Storage::int8) {
  require(k <= kInt8Longest, "k", k, "int8 cannot sum up so many");
  memory_ = arena_allocate(bytes());
  auto* own_scales = const_cast<float*>(int8_scales());
  std::fill(std::copy_n(scales, n, own_scales), own_scales + layout().columns(), 0.0F);
  const Int8Rounded from = tb == Trans::no ? Int8Rounded{k, n, b, ldb, 1} : Int8Rounded{k, n, b, 1, ldb};
  parallel_for((n + kInt8Columns - 1) / kInt8Columns, 16, [&](std::int64_t begin, std::int64_t end) {
    int8_pack(from, begin * kInt8Columns, std::min(end * kInt8Columns, n), static_cast<std::int8_t*>(memory_),
              const_cast<std::int32_t*>(int8_sums()));
  });
}

PackedLayout PackedMatrix::layout() const {
  return {storage_, k_, n_, storage_ == Storage::int8 ? kInt8Columns : kernels_->nr};
}

const float* PackedMatrix::int8_scales() const {
  return layout().int8_scales(memory_);
}

const std::int32_t* PackedMatrix::int8_sums() const {
  return layout().int8_sums(memory_);
}

PackedMatrix::PackedMatrix(PackedMatrix&& other) noexcept {
  *this = std::move(other);
}

PackedMatrix& PackedMatrix::operator=(PackedMatrix&& other) noexcept {
  std::swap(k_, other.k_);
  std::swap(n_, other.n_);
  std::swap(kernels_, other.kernels_);
  std::swap(bf16_, other.bf16_);
  std::swap(half_, other.half_);
  std::swap(int8_, other.int8_);
  std::swap(storage_, other.storage_);
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
  return layout().bytes();
}

}  // namespace fovea::kernels
