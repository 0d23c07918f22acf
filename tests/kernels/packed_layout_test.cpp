#include "kernels/packed_layout.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "base/arena.hpp"
#include "kernels/gemm.hpp"
#include "kernels/kernels.hpp"
#include "kernels/packed_matrix.hpp"

namespace fovea::kernels {
namespace {

std::vector<float> some_values(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = uniform(generator);
  return values;
}

TEST(PackedLayout, PackedBytesElsewhereMultiplyAlike) {
  for (const Table* table : available()) {
    const ScopedKernels use(*table);
    for (const Storage storage : {Storage::f32, Storage::f16, Storage::int8}) {
      for (const auto& [k, n] : {std::pair{1, 1}, {7, 33}, {130, 17}, {64, 100}}) {
        const auto b = some_values(k * n, 2);
        const auto a = some_values(3 * k, 1);
        const PackedMatrix packed(Trans::no, k, n, b.data(), n, storage);
        const PackedLayout layout = packed.layout();
        EXPECT_EQ(layout, PackedLayout::of(storage, k, n));
        EXPECT_TRUE(layout.usable());
        EXPECT_EQ(layout.bytes(), packed.bytes());
        const std::shared_ptr<void> copy(arena_allocate(layout.bytes()), arena_release);
        std::memcpy(copy.get(), packed.memory(), layout.bytes());
        const PackedMatrix elsewhere(layout, copy.get());
        std::vector<float> expected(static_cast<std::size_t>(3 * n)), actual(expected);
        gemm_packed(3, a.data(), k, packed, 0.0F, expected.data(), n);
        gemm_packed(3, a.data(), k, elsewhere, 0.0F, actual.data(), n);
        EXPECT_EQ(actual, expected) << table->name << ' ' << k << 'x' << n;
      }
    }
  }
}

// Whichever kernels packed it, and whichever unpack it: packing what was unpacked gives the same again.
TEST(PackedLayout, UnpacksWhatAnyKernelsPacked) {
  for (const Table* from : available()) {
    for (const Storage storage : {Storage::f32, Storage::f16, Storage::int8}) {
      for (const Trans tb : {Trans::no, Trans::yes}) {
        const std::int64_t k = 37, n = 45;
        const auto b = some_values(k * n, 2);
        const std::int64_t ldb = tb == Trans::no ? n : k;
        PackedMatrix packed;
        {
          const ScopedKernels use(*from);
          packed = PackedMatrix(tb, k, n, b.data(), ldb, storage);
        }
        std::vector<float> numbers(b.size());
        unpack(packed.layout(), packed.memory(), numbers.data(), tb == Trans::no ? ldb : 1, tb == Trans::no ? 1 : ldb);
        for (std::size_t i = 0; i < b.size(); ++i) {
          EXPECT_NEAR(numbers[i], b[i], storage == Storage::f32 ? 0 : storage == Storage::f16 ? 5e-4 : 5e-3);
        }
        const ScopedKernels use(*from);
        const PackedMatrix again(tb, k, n, numbers.data(), ldb, storage);
        EXPECT_EQ(std::memcmp(again.memory(), packed.memory(), storage == Storage::f32 ? 0 : 64), 0);
        std::vector<float> twice(b.size());
        unpack(again.layout(), again.memory(), twice.data(), tb == Trans::no ? ldb : 1, tb == Trans::no ? 1 : ldb);
        EXPECT_EQ(twice, numbers);
      }
    }
  }
}

TEST(PackedLayout, IsUsableOnlyAsWideAsTheKernelsTiles) {
  PackedLayout layout = PackedLayout::of(Storage::f32, 10, 20);
  EXPECT_TRUE(layout.usable());
  layout.width *= 2;
  EXPECT_FALSE(layout.usable());
  EXPECT_EQ(PackedLayout::of(Storage::int8, 1 << 17, 1).storage, Storage::f16);
}

}  // namespace
}  // namespace fovea::kernels
