// What must hold to the last bit, for every table.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

#include "kernels/attention.hpp"
#include "support/attention_problem.hpp"

namespace fovea::test {
namespace {

using kernels::available;
using kernels::Table;

class AttentionExact : public testing::TestWithParam<Family> {};
INSTANTIATE_TEST_SUITE_P(Families, AttentionExact, testing::Values(Family::dot, Family::additive),
                         [](const auto& info) { return info.param == Family::dot ? "Dot" : "Additive"; });

void fill_row(std::vector<float>& x, std::int64_t row, std::int64_t width, float value) {
  for (std::int64_t d = 0; d < width; ++d) x[static_cast<std::size_t>(row * (width + Problem::kGap) + d)] = value;
}

// Rows [0, rows) of both are the same bytes.
void expect_same_rows(const std::vector<float>& a, const std::vector<float>& b, std::int64_t rows, std::int64_t width,
                      const std::string& what) {
  const auto stride = static_cast<std::size_t>(width + Problem::kGap);
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
    for (std::size_t d = 0; d < static_cast<std::size_t>(width); ++d) {
      const float x = a[r * stride + d];
      const float y = b[r * stride + d];
      ASSERT_EQ(std::bit_cast<std::uint32_t>(x), std::bit_cast<std::uint32_t>(y))
          << what << " row " << r << " column " << d << ": " << x << ", " << y;
    }
  }
}

void expect_same(const Problem& a, const Problem& b, std::int64_t queries, std::int64_t keys, const std::string& what) {
  expect_same_rows(a.out, b.out, queries, a.shape.value_dim, what + " out");
  expect_same_rows(a.dq, b.dq, queries, a.shape.dim, what + " dq");
  expect_same_rows(a.dk, b.dk, keys, a.shape.dim, what + " dk");
  expect_same_rows(a.dv, b.dv, keys, a.shape.value_dim, what + " dv");
}

TEST_P(AttentionExact, PaddingNeverChangesTheResult) {
  for (const Table* table : available()) {
    Problem clean(GetParam(), {20, 90, 16, 16}, 1);
    clean.visibility.length = 70;
    Problem dirty = clean;
    for (std::int64_t j = 70; j < 90; ++j) {
      fill_row(dirty.k, j, 16, j % 2 == 0 ? kNan : kInf);
      fill_row(dirty.v, j, 16, j % 3 == 0 ? kNan : -kInf);
    }
    for (Problem* p : {&clean, &dirty}) {
      p->forward(*table);
      p->backward(*table);
    }
    expect_same(dirty, clean, 20, 90, table->name);
    for (std::int64_t j = 70; j < 90; ++j) {
      ASSERT_EQ(dirty.dk[static_cast<std::size_t>(j * 19)], 0.0F);
      ASSERT_EQ(dirty.dv[static_cast<std::size_t>(j * 19)], 0.0F);
    }
  }
}

// NaN and infinity in one key and value: the queries that do not see it, and the other keys, do not change.
TEST_P(AttentionExact, NanInAKeyReachesOnlyTheQueriesThatSeeIt) {
  for (const Table* table : available()) {
    for (int how = 0; how < 4; ++how) {
      Problem clean(GetParam(), {80, 80, 16, 16}, 2);
      const std::int64_t bad = 40;
      if (how == 0) clean.visibility.causal = true;
      if (how == 1) clean.visibility.window = 10;
      if (how >= 2) {
        clean.add_mask(1.0);
        clean.add_bias();
        for (std::int64_t i = 0; i < 40; ++i) {
          if (how == 2) clean.mask[static_cast<std::size_t>(i * 80 + bad)] = 0;
          if (how == 3) clean.bias[static_cast<std::size_t>(i * 83 + bad)] = -kInf;
        }
      }
      Problem dirty = clean;
      fill_row(dirty.k, bad, 16, kNan);
      fill_row(dirty.v, bad, 16, kInf);
      for (Problem* p : {&clean, &dirty}) {
        p->forward(*table);
        p->backward(*table);
      }
      for (std::int64_t i = 0; i < 80; ++i) {
        const bool sees = how == 1 ? std::abs(i - bad) <= 10 : i >= bad;
        for (std::int64_t d = 0; d < 16; ++d) {
          const auto at = static_cast<std::size_t>(i * 19 + d);
          if (sees) {
            ASSERT_TRUE(std::isnan(dirty.out[at])) << table->name << " how " << how << " row " << i;
          } else {
            ASSERT_EQ(dirty.out[at], clean.out[at]) << table->name << " how " << how << " row " << i;
            ASSERT_EQ(dirty.dq[at], clean.dq[at]) << table->name << " how " << how << " row " << i;
          }
        }
      }
    }
  }
}

// The other way round: a query that sees nothing may hold anything.
TEST_P(AttentionExact, AQueryThatSeesNothingGetsZerosAndGivesNone) {
  for (const Table* table : available()) {
    Problem clean(GetParam(), {70, 50, 16, 16}, 3);
    clean.add_mask(1.0);
    for (std::int64_t j = 0; j < 50; ++j) clean.mask[static_cast<std::size_t>(33 * 50 + j)] = 0;
    Problem dirty = clean;
    fill_row(dirty.q, 33, 16, kNan);
    fill_row(dirty.dout, 33, 16, kInf);
    for (Problem* p : {&clean, &dirty}) {
      p->want_dbias = true;
      p->forward(*table);
      p->backward(*table);
    }
    expect_same(dirty, clean, 70, 50, table->name);
    EXPECT_EQ(dirty.peak[33], -kInf);
    EXPECT_EQ(dirty.mass[33], 0.0F);
    for (std::size_t d = 0; d < 16; ++d) {
      ASSERT_EQ(dirty.out[33 * 19 + d], 0.0F) << table->name;
      ASSERT_EQ(dirty.dq[33 * 19 + d], 0.0F) << table->name;
    }
    for (const float d : dirty.dbias) ASSERT_TRUE(std::isfinite(d)) << table->name;
    for (const float d : dirty.dw) ASSERT_TRUE(std::isfinite(d)) << table->name;
  }
}

TEST_P(AttentionExact, NothingVisibleAtAll) {
  for (const Table* table : available()) {
    for (int how = 0; how < 3; ++how) {
      Problem problem(GetParam(), {9, 20, 5, 3}, 4);
      if (how == 0) problem.visibility.length = 0;
      if (how == 1) problem.add_mask(0.0);
      if (how == 2) {
        problem.visibility.causal = true;
        problem.visibility.offset = -100;
      }
      problem.forward(*table);
      problem.backward(*table);
      const auto all_zero = [&](const std::vector<float>& x, std::int64_t width) {
        for (std::size_t i = 0; i < x.size(); ++i) {
          if (i % static_cast<std::size_t>(width + Problem::kGap) < static_cast<std::size_t>(width)) {
            ASSERT_EQ(x[i], 0.0F) << table->name << " how " << how;
          }
        }
      };
      all_zero(problem.out, 3);
      all_zero(problem.dq, 5);
      all_zero(problem.dk, 5);
      all_zero(problem.dv, 3);
    }
  }
}

TEST_P(AttentionExact, HugeScoresStayFiniteAndAreAValidSoftmax) {
  for (const Table* table : available()) {
    for (const float size : {1e30F, -1e30F}) {
      Problem problem(GetParam(), {10, 70, 8, 8}, 5);
      problem.add_bias();
      for (float& b : problem.bias) b = size;
      problem.want_dbias = true;
      for (float& v : problem.v) v = std::isnan(v) ? v : 3.0F;
      problem.forward(*table);
      problem.backward(*table);
      for (std::size_t i = 0; i < 10; ++i) {
        // All scores round to the same number, so every value has the weight 1 / 70, and their mean is 3.
        for (std::size_t e = 0; e < 8; ++e) ASSERT_NEAR(problem.out[i * 11 + e], 3.0F, 1e-5F) << table->name;
      }
      for (std::size_t j = 0; j < 70; ++j) {
        float sum = 0;
        for (std::size_t i = 0; i < 10; ++i) sum += problem.dout[i * 11];
        ASSERT_NEAR(problem.dv[j * 11], sum / 70, 1e-5F) << table->name;
      }
      for (const float d : problem.dbias) ASSERT_TRUE(std::isfinite(d)) << table->name;
    }
  }
}

TEST(AttentionExactDot, HugeProductsStayFinite) {
  for (const Table* table : available()) {
    Problem problem(Family::dot, {40, 70, 8, 8}, 6);
    problem.scale = 1;
    for (float& x : problem.q) x *= 1e15F;
    for (float& x : problem.k) x *= 1e14F;
    problem.forward(*table);
    problem.backward(*table);
    for (std::size_t i = 0; i < problem.out.size(); ++i) {
      ASSERT_TRUE(i % 11 >= 8 || std::isfinite(problem.out[i])) << table->name << " " << i;
    }
    for (const auto* x : {&problem.dq, &problem.dk, &problem.dv}) {
      for (std::size_t i = 0; i < x->size(); ++i) {
        ASSERT_TRUE(i % 11 >= 8 || std::isfinite((*x)[i])) << table->name << " " << i;
      }
    }
    // One score towers over the others: the query reads that value.
    for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(problem.mass[i], 1.0F) << table->name;
  }
}

// The same sequence padded to other lengths, as it would be in another batch.
TEST_P(AttentionExact, PaddingDoesNotChangeABit) {
  for (const Table* table : available()) {
    for (const bool causal : {false, true}) {
      const ProblemShape small{21, 30, 20, 12};
      Problem alone(GetParam(), small, 7);
      alone.visibility.offset = 0;
      alone.visibility.causal = causal;
      alone.forward(*table);
      alone.backward(*table);
      for (const std::int64_t more : {1, 40, 700}) {
        Problem padded(GetParam(), {21 + more, 30 + more, 20, 12}, 8);
        const auto put = [](std::vector<float>& to, const std::vector<float>& from) {
          std::copy(from.begin(), from.end(), to.begin());
        };
        put(padded.q, alone.q);
        put(padded.k, alone.k);
        put(padded.v, alone.v);
        put(padded.w, alone.w);
        std::fill(padded.dout.begin(), padded.dout.end(), 0.0F);  // a loss does not depend on padding
        put(padded.dout, alone.dout);
        padded.visibility.offset = 0;
        padded.visibility.causal = causal;
        padded.visibility.length = 30;
        padded.forward(*table);
        padded.backward(*table);
        expect_same(padded, alone, 21, 30, std::string(table->name) + " padded by " + std::to_string(more));
      }
    }
  }
}

TEST_P(AttentionExact, RowsDoNotDependOnTheOtherRows) {
  for (const Table* table : available()) {
    for (const bool causal : {false, true}) {
      Problem whole(GetParam(), {150, 150, 24, 24}, 9);
      whole.visibility.causal = causal;
      whole.visibility.window = causal ? 100 : -1;
      whole.forward(*table);
      Problem parts = whole;
      std::fill(parts.out.begin(), parts.out.end(), kNan);
      for (const auto& [begin, end] : {std::pair{0, 1}, {1, 3}, {3, 11}, {11, 28}, {28, 100}, {100, 150}}) {
        parts.forward(*table, {begin, end});
      }
      expect_same_rows(parts.out, whole.out, 150, 24, table->name);
      EXPECT_EQ(parts.peak, whole.peak) << table->name;
      EXPECT_EQ(parts.mass, whole.mass) << table->name;
    }
  }
}

TEST_P(AttentionExact, GradientsThatAreNotWantedAreNotNeeded) {
  for (const Table* table : available()) {
    Problem problem(GetParam(), {20, 30, 8, 8}, 10);
    problem.forward(*table);
    problem.backward(*table);
    const auto want = problem.dk;
    kernels::AttentionGrads g;
    g.dout = problem.dout.data();
    g.dout_stride = 8 + Problem::kGap;
    g.dk = {problem.dk.data(), 8 + Problem::kGap, false};
    std::vector<float> scratch(static_cast<std::size_t>(table->attention->scratch(30, 8, 8)) + 16);
    auto* aligned = reinterpret_cast<float*>((reinterpret_cast<std::uintptr_t>(scratch.data()) + 63) / 64 * 64);
    fill_row(problem.dk, 3, 8, 7.0F);
    if (GetParam() == Family::dot) {
      table->attention->dot_backward(problem.dot(), g, {0, 20}, {0, 30}, aligned);
    } else {
      table->attention->additive_backward(problem.additive(), g, {0, 20}, {0, 30}, aligned);
    }
    expect_same_rows(problem.dk, want, 30, 8, table->name);
  }
}

}  // namespace
}  // namespace fovea::test
