#include "kernels/int8.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "fovea/error.hpp"
#include "fovea/threads.hpp"
#include "kernels/gemm.hpp"
#include "kernels/half.hpp"
#include "kernels/int8_weights.hpp"
#include "kernels/kernels.hpp"

namespace fovea::kernels {
namespace {

std::vector<float> noise(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = normal(generator);
  return values;
}

std::vector<float> product(const Table& table, Storage storage, Trans tb, std::int64_t m, std::int64_t n,
                           std::int64_t k, float beta, bool bias, bool parallel) {
  const ScopedKernels use(table);
  const auto a = noise(m * k, 1);
  const auto b = noise(k * n, 2);
  const auto added = noise(n, 3);
  auto c = noise(m * n, 4);
  const PackedMatrix packed(tb, k, n, b.data(), tb == Trans::no ? n : k, storage);
  EXPECT_EQ(packed.storage(), storage);
  const Epilogue epilogue{.bias = bias ? added.data() : nullptr, .activation = Activation::none};
  (parallel ? parallel_gemm_packed : gemm_packed)(m, a.data(), k, packed, beta, c.data(), n, epilogue);
  return c;
}

TEST(Int8, EveryKernelGivesTheBytesOfGeneric) {
  for (const Table* table : available()) {
    for (const Trans tb : {Trans::no, Trans::yes}) {
      for (const auto& [n, k] : {std::pair{1, 1}, {15, 7}, {16, 64}, {17, 65}, {33, 130}, {200, 96}, {20, 2049}}) {
        for (const std::int64_t m : {1, 2, 3, 4, 5, 6, 7, 13, 97}) {
          for (const float beta : {0.0F, 0.5F}) {
            for (const bool bias : {false, true}) {
              EXPECT_EQ(product(*table, Storage::int8, tb, m, n, k, beta, bias, false),
                        product(*available()[0], Storage::int8, tb, m, n, k, beta, bias, false))
                  << table->name << ' ' << m << 'x' << n << 'x' << k << " beta " << beta << " bias " << bias;
            }
          }
        }
      }
    }
  }
}

TEST(Int8, ThreadsDoNotChangeTheBytes) {
  for (const Table* table : available()) {
    for (const Storage storage : {Storage::int8, Storage::f16}) {
      for (const std::int64_t m : {1, 5, 70}) {
        EXPECT_EQ(product(*table, storage, Trans::yes, m, 3001, 128, 0, true, true),
                  product(*table, storage, Trans::yes, m, 3001, 128, 0, true, false))
            << table->name << ' ' << m;
      }
    }
  }
}

TEST(Int8, ARowGivesTheSameAloneAndAmongOthers) {
  for (const Table* table : available()) {
    const ScopedKernels use(*table);
    const auto a = noise(40 * 96, 1);
    const auto b = noise(96 * 50, 2);
    for (const Storage storage : {Storage::int8, Storage::f16}) {
      const PackedMatrix packed(Trans::no, 96, 50, b.data(), 50, storage);
      std::vector<float> all(40 * 50);
      gemm_packed(40, a.data(), 96, packed, 0, all.data(), 50);
      for (std::size_t few = 1; few <= 7; ++few) {
        for (std::size_t r = 0; r + few <= 40; r += few) {
          std::vector<float> some(few * 50);
          gemm_packed(static_cast<std::int64_t>(few), a.data() + r * 96, 96, packed, 0, some.data(), 50);
          EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin() + static_cast<std::ptrdiff_t>(r * 50)))
              << table->name << ' ' << few << " from row " << r;
        }
      }
    }
  }
}

// Few rows in half precision have a way of their own, to the bytes of the other one.
TEST(Int8, SomeColumnsGiveTheBytesTheyHaveInTheWhole) {
  constexpr std::int64_t kRows = 5;
  constexpr std::int64_t kDepth = 70;
  constexpr std::int64_t kColumns = 40;
  const auto a = noise(kRows * kDepth, 1);
  const auto b = noise(kDepth * kColumns, 2);
  for (const Table* table : available()) {
    const ScopedKernels use(*table);
    const PackedMatrix whole(Trans::no, kDepth, kColumns, b.data(), kColumns, Storage::int8);
    std::vector<float> all(kRows * kColumns);
    gemm_packed(kRows, a.data(), kDepth, whole, 0.0F, all.data(), kColumns);
    for (const std::size_t count : {1, 16, 17, 39}) {
      std::vector<std::int32_t> columns;
      for (std::size_t i = 0; i < count; ++i) columns.push_back(static_cast<std::int32_t>((i * 7 + 3) % kColumns));
      const PackedMatrix some(whole, columns);
      std::vector<float> c(kRows * count, 9);
      gemm_packed(kRows, a.data(), kDepth, some, 0.0F, c.data(), static_cast<std::int64_t>(count));
      for (std::size_t r = 0; r < kRows; ++r) {
        for (std::size_t i = 0; i < count; ++i) {
          EXPECT_EQ(c[r * count + i], all[r * kColumns + static_cast<std::size_t>(columns[i])]) << table->name;
        }
      }
    }
  }
  const PackedMatrix halves(Trans::no, kDepth, kColumns, b.data(), kColumns, Storage::f16);
  EXPECT_THROW(PackedMatrix(halves, std::vector<std::int32_t>{0}), UsageError);
}

TEST(Half, FewRowsStartWhereManyDo) {
  for (const Table* table : available()) {
    const ScopedKernels use(*table);
    const std::int64_t n = 150, k = 70;
    const auto a = noise(8 * k, 1);
    const auto b = noise(k * n, 2);
    const auto bias = noise(n, 3);
    const PackedMatrix packed(Trans::no, k, n, b.data(), n, Storage::f16);
    for (const float beta : {0.0F, 0.5F}) {
      for (const float* added : {static_cast<const float*>(nullptr), bias.data()}) {
        const auto before = noise(8 * n, 4);
        auto all = before;
        gemm_packed(8, a.data(), k, packed, beta, all.data(), n, {.bias = added});
        for (std::int64_t few = 1; few <= 6; ++few) {
          auto some = before;
          gemm_packed(few, a.data(), k, packed, beta, some.data(), n, {.bias = added});
          EXPECT_TRUE(std::equal(some.begin(), some.begin() + few * n, all.begin())) << table->name << ' ' << few;
          EXPECT_TRUE(std::equal(some.begin() + few * n, some.end(), before.begin() + few * n)) << table->name;
        }
      }
    }
  }
}

TEST(Int8, IsCloseToTheExactProduct) {
  const std::int64_t k = 256;
  const auto a = noise(3 * k, 1);
  const auto b = noise(k * 40, 2);
  const PackedMatrix packed(Trans::no, k, 40, b.data(), 40, Storage::int8);
  std::vector<float> c(3 * 40);
  gemm_packed(3, a.data(), k, packed, 0, c.data(), 40);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 40; ++j) {
      double sum = 0;
      for (std::size_t p = 0; p < 256; ++p) sum += static_cast<double>(a[i * 256 + p]) * b[p * 40 + j];
      EXPECT_NEAR(c[i * 40 + j], sum, 0.05 * 16);  // the sum's deviation is 16, that of the rounding 0.17
    }
  }
}

// The largest numbers there can be: maddubs would saturate if anything left +-127.
TEST(Int8, ExtremesDoNotSaturate) {
  for (const Table* table : available()) {
    const ScopedKernels use(*table);
    for (const float sign : {1.0F, -1.0F}) {
      const std::vector<float> a(256, sign * 3.0F);
      const std::vector<float> b(256 * 16, 2.0F);
      const PackedMatrix packed(Trans::no, 256, 16, b.data(), 16, Storage::int8);
      std::vector<float> c(16);
      gemm_packed(1, a.data(), 256, packed, 0, c.data(), 16);
      for (const float v : c) EXPECT_NEAR(v, sign * 256 * 6, 0.05) << table->name;
    }
  }
}

TEST(Int8, WhatIsNotFiniteGivesNaNAndZerosGiveTheBias) {
  for (const Table* table : available()) {
    const ScopedKernels use(*table);
    const auto b = noise(20 * 16, 2);
    const auto bias = noise(16, 3);
    const PackedMatrix packed(Trans::no, 20, 16, b.data(), 16, Storage::int8);
    for (const float odd : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
      for (const std::size_t at : {std::size_t{0}, std::size_t{19}}) {
        std::vector<float> a(20, 1.0F);
        a[at] = odd;
        std::vector<float> c(16);
        gemm_packed(1, a.data(), 20, packed, 0, c.data(), 16);
        for (const float v : c) EXPECT_TRUE(std::isnan(v)) << table->name;
      }
    }
    std::vector<float> c(16);
    const std::vector<float> zeros(20);
    gemm_packed(1, zeros.data(), 20, packed, 0, c.data(), 16, {.bias = bias.data()});
    EXPECT_EQ(c, bias);
  }
}

// So that the largest number of a column, 127 times its scale, is rounded to itself.
TEST(Int8, AScaleTimes127IsAFloat) {
  for (float largest = 0.7F; largest < 3.0F; largest = std::nextafter(largest * 1.001F, 9.0F)) {
    const float scale = int8_scale(largest);
    const double product = static_cast<double>(scale) * 127;
    ASSERT_EQ(static_cast<double>(static_cast<float>(product)), product) << largest;
    ASSERT_GE(product, static_cast<double>(largest) * (1 - 1e-6));
  }
}

TEST(Int8, WhatWasRoundedOnceStaysTheSame) {
  const auto w = noise(1000, 5);
  for (const float size : {1e-30F, 0.01F, 1.0F, 3e30F}) {
    std::vector<float> x = w;
    float largest = 0;
    for (float& v : x) largest = std::max(largest, std::abs(v *= size));
    const float scale = int8_scale(largest);
    std::vector<std::int8_t> q(1000);
    int8_round(1000, x.data(), scale, q.data());
    float again = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(x[i], static_cast<float>(q[i]) * scale, 0.5001F * scale);
      EXPECT_LE(std::abs(q[i]), 127);
      x[i] = static_cast<float>(q[i]) * scale;
      again = std::max(again, std::abs(x[i]));
    }
    EXPECT_EQ(int8_scale(again), scale);
    std::vector<std::int8_t> twice(1000);
    int8_round(1000, x.data(), scale, twice.data());
    EXPECT_EQ(twice, q);
  }
  EXPECT_EQ(int8_scale(0), 0);
}

TEST(Half, EveryKernelWidensAndNarrowsAllNumbersAlike) {
  std::vector<Half> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Half>(i);
  std::vector<float> expected(all.size());
  available()[0]->half->widen(65536, all.data(), expected.data());
  EXPECT_EQ(expected[0x3C00], 1.0F);
  EXPECT_EQ(expected[0xC000], -2.0F);
  EXPECT_EQ(expected[0x0001], 0x1p-24F);
  EXPECT_EQ(expected[0x7BFF], 65504.0F);
  for (const Table* table : available()) {
    std::vector<float> wide(all.size());
    std::vector<Half> narrow(all.size());
    table->half->widen(65536, all.data(), wide.data());
    table->half->narrow(65536, wide.data(), narrow.data());
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (std::isnan(expected[i])) {
        EXPECT_TRUE(std::isnan(wide[i])) << table->name << ' ' << i;
        continue;
      }
      EXPECT_EQ(wide[i], expected[i]) << table->name << ' ' << i;
      EXPECT_EQ(narrow[i], all[i]) << table->name << ' ' << i;
    }
  }
}

TEST(Half, RoundsToTheNearestTiesToEven) {
  std::vector<float> x{1.0F + 0x1p-11F, 1.0F + 0x1.8p-10F, 1.0F + 0x1.002p-11F, 65519.0F, 65520.0F,
                       -1e30F,          0x1p-25F,          0x1.8p-25F,          0x1p-30F, -0.0F,
                       0x1.FFCp-15F};
  for (const float v : noise(5000, 7)) x.push_back(v * 0x1p-14F);
  for (const float v : noise(5000, 8)) x.push_back(v);
  std::vector<Half> expected(x.size());
  available()[0]->half->narrow(static_cast<std::int64_t>(x.size()), x.data(), expected.data());
  EXPECT_EQ((std::vector<Half>(expected.begin(), expected.begin() + 10)),
            (std::vector<Half>{0x3C00, 0x3C02, 0x3C01, 0x7BFF, 0x7C00, 0xFC00, 0x0000, 0x0001, 0x0000, 0x8000}));
  for (const Table* table : available()) {
    std::vector<Half> actual(x.size());
    table->half->narrow(static_cast<std::int64_t>(x.size()), x.data(), actual.data());
    EXPECT_EQ(actual, expected) << table->name;
  }
}

TEST(Half, ProductsAreThoseOfTheRoundedMatrix) {
  for (const Table* table : available()) {
    const ScopedKernels use(*table);
    for (const auto& [n, k] : {std::pair{1, 7}, {33, 300}, {530, 20}}) {
      auto b = noise(n * k, 2);
      const PackedMatrix packed(Trans::no, k, n, b.data(), n, Storage::f16);
      std::vector<Half> halves(b.size());
      table->half->narrow(n * k, b.data(), halves.data());
      table->half->widen(n * k, halves.data(), b.data());
      for (const std::int64_t m : {1, 5, 64}) {
        const auto a = noise(m * k, 1);
        const auto bias = noise(n, 3);
        std::vector<float> expected(static_cast<std::size_t>(m * n));
        auto actual = expected;
        const Epilogue epilogue{.bias = bias.data(), .activation = Activation::relu};
        gemm(Trans::no, Trans::no, m, n, k, a.data(), k, b.data(), n, 0, expected.data(), n, epilogue);
        gemm_packed(m, a.data(), k, packed, 0, actual.data(), n, epilogue);
        EXPECT_EQ(actual, expected) << table->name << ' ' << m << 'x' << n << 'x' << k;
      }
    }
  }
}

}  // namespace
}  // namespace fovea::kernels
