#include "kernels/packed_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/int8_weights.hpp"
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

// A matrix that is in int8 already is laid out as one that packing rounds.
TEST(PackedLayout, Int8FromAFileIsPackedAsFloatsThatRoundToIt) {
  for (const Table* table : available()) {
    const ScopedKernels use(*table);
    for (const auto& [k, n] : {std::pair{1, 1}, {7, 33}, {130, 17}, {64, 100}}) {
      for (const Trans tb : {Trans::no, Trans::yes}) {
        const std::int64_t ldb = tb == Trans::no ? n : k;
        const std::int64_t row = tb == Trans::no ? ldb : 1, column = tb == Trans::no ? 1 : ldb;
        const auto b = some_values(k * n, 2);
        const PackedMatrix expected(tb, k, n, b.data(), ldb, Storage::int8);
        std::vector<float> scales(static_cast<std::size_t>(n));
        int8_scales({k, n, b.data(), row, column}, scales.data());
        std::vector<std::int8_t> q(b.size());
        for (std::int64_t p = 0; p < k; ++p) {
          for (std::int64_t j = 0; j < n; ++j) {
            const auto at = static_cast<std::size_t>(p * row + j * column);
            int8_round(1, &b[at], scales[static_cast<std::size_t>(j)], &q[at]);
          }
        }
        const PackedMatrix packed(tb, k, n, q.data(), ldb, scales.data());
        ASSERT_EQ(packed.layout(), expected.layout());
        const auto used = static_cast<std::size_t>(packed.layout().columns() * int8_depth(k));
        EXPECT_EQ(std::memcmp(packed.memory(), expected.memory(), used), 0) << table->name << ' ' << k << 'x' << n;
        EXPECT_TRUE(std::equal(scales.begin(), scales.end(), packed.int8_scales()));
        EXPECT_TRUE(std::equal(packed.int8_sums(), packed.int8_sums() + n, expected.int8_sums()));
        std::vector<float> wanted(static_cast<std::size_t>(k * n)), widened(wanted);
        unpack(expected.layout(), expected.memory(), wanted.data(), row, column);
        for (std::int64_t i = 0; i < k * n / ldb; ++i) {
          const std::size_t at = static_cast<std::size_t>(i * ldb);
          if (tb == Trans::no) {
            int8_widen(ldb, &q[at], scales.data(), &widened[at]);
          } else {
            int8_widen(ldb, &q[at], scales[static_cast<std::size_t>(i)], &widened[at]);
          }
        }
        EXPECT_EQ(widened, wanted);
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

TEST(PackedLayout, WhatInt8CannotSumUpIsStoredInF16) {
  EXPECT_EQ(PackedLayout::of(Storage::int8, 1 << 17, 1).storage, Storage::f16);
}

}  // namespace
}  // namespace fovea::kernels
