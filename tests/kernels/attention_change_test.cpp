// Changed scores, sinks and maps of tiles: every table against the generic one.
#include <gtest/gtest.h>

#include <atomic>

#include "kernels/kernels.hpp"
#include "support/attention_problem.hpp"

namespace fovea {
namespace {

using test::expect_rows_near;
using test::Family;
using test::Problem;

// score -> score * (1 + key / 50) + query / 20: depends on both positions.
void modify(const void*, const kernels::ScoreTile& t, float* scores) {
  for (std::int64_t a = 0; a < t.keys; ++a) {
    for (std::int64_t b = 0; b < t.queries; ++b) {
      float& s = scores[a * t.key_stride + b * t.query_stride];
      s = s * (1 + static_cast<float>(t.key0 + a) / 50) + static_cast<float>(t.query0 + b) / 20;
    }
  }
}
void modify_backward(const void*, const kernels::ScoreTile& t, const float*, float* gradient) {
  for (std::int64_t a = 0; a < t.keys; ++a) {
    for (std::int64_t b = 0; b < t.queries; ++b) {
      gradient[a * t.key_stride + b * t.query_stride] *= 1 + static_cast<float>(t.key0 + a) / 50;
    }
  }
}

/// A map in which tiles are hidden, full and partly visible in turn.
struct Map {
  std::vector<std::int64_t> row_start{0};
  std::vector<std::int32_t> key_tile;
  std::vector<std::int64_t> first_word;
  std::vector<std::uint64_t> words;
  kernels::TileMap map;

  Map(std::int64_t queries, std::int64_t keys) {
    std::uint64_t seed = 12345;
    for (std::int64_t r = 0; r < (queries + 63) / 64; ++r) {
      for (std::int64_t c = 0; c < (keys + 63) / 64; ++c) {
        const auto kind = (r + 2 * c) % 3;
        if (kind == 0) continue;
        key_tile.push_back(static_cast<std::int32_t>(c));
        first_word.push_back(kind == 1 ? -1 : static_cast<std::int64_t>(words.size()));
        for (int a = 0; kind == 2 && a < 64; ++a)
          words.push_back(seed = seed * 6364136223846793005U + 1442695040888963407U);
      }
      row_start.push_back(static_cast<std::int64_t>(key_tile.size()));
    }
    map = {row_start.data(), key_tile.data(), first_word.data(), words.data()};
  }
};

struct Case {
  Family family;
  test::ProblemShape shape;
  float softcap;
  bool modified, sink, mapped, causal;
};

void expect_agreement(const Case& c) {
  Problem expected(c.family, c.shape, 7);
  const Map map(c.shape.queries, c.shape.keys);
  expected.visibility.causal = c.causal;
  expected.change.softcap = c.softcap;
  if (c.modified) {
    expected.change.modify = modify;
    expected.change.modify_backward = modify_backward;
  }
  if (c.sink) expected.sink = {0.7F};
  if (c.mapped) expected.visibility.map = map.map;
  for (std::int64_t i = 0; i < c.shape.queries; ++i) expected.dlog_sum.push_back(static_cast<float>(i % 5) - 2);
  expected.want_dbias = true;
  Problem actual = expected;
  expected.forward(*kernels::available().front());
  expected.backward(*kernels::available().front());
  for (const kernels::Table* table : kernels::available()) {
    const std::string what = std::string(table->name) + " " + expected.text() + " softcap " +
                             std::to_string(c.softcap) + (c.modified ? " modified" : "") + (c.sink ? " sink" : "") +
                             (c.mapped ? " mapped" : "");
    actual.forward(*table);
    actual.backward(*table);
    expect_rows_near(actual.out, expected.out, c.shape.value_dim, 2e-5F, what + " out");
    expect_rows_near(actual.dq, expected.dq, c.shape.dim, 2e-4F, what + " dq");
    expect_rows_near(actual.dk, expected.dk, c.shape.dim, 2e-4F, what + " dk");
    expect_rows_near(actual.dv, expected.dv, c.shape.value_dim, 2e-4F, what + " dv");
    for (std::size_t at = 0; at < expected.dbias.size(); ++at) {
      ASSERT_NEAR(actual.dbias[at], expected.dbias[at], 2e-4F) << what << " dbias " << at;
    }
    std::vector<float> weights(static_cast<std::size_t>(c.shape.queries * c.shape.keys));
    std::vector<float> entropy(static_cast<std::size_t>(c.shape.queries));
    auto weights_expected = weights;
    auto entropy_expected = entropy;
    const auto ask = [&](Problem& problem, const kernels::Table& by, std::vector<float>& w, std::vector<float>& e) {
      problem.weights(by, {.weights = w.data(), .weights_stride = c.shape.keys, .entropy = e.data()},
                      {0, c.shape.queries});
    };
    ask(actual, *table, weights, entropy);
    ask(expected, *kernels::available().front(), weights_expected, entropy_expected);
    for (std::size_t at = 0; at < weights.size(); ++at) ASSERT_NEAR(weights[at], weights_expected[at], 2e-5F) << what;
    for (std::size_t at = 0; at < entropy.size(); ++at) ASSERT_NEAR(entropy[at], entropy_expected[at], 1e-4F) << what;
  }
}

TEST(AttentionChange, EveryKernelAgreesWithGeneric) {
  for (const Family family : {Family::dot, Family::additive}) {
    for (const test::ProblemShape& shape :
         {test::ProblemShape{1, 1, 1, 1}, {3, 130, 7, 9}, {65, 70, 16, 16}, {130, 200, 33, 8}, {70, 600, 48, 5}}) {
      for (const bool causal : {false, true}) {
        expect_agreement({family, shape, 1.5F, false, false, false, causal});
        expect_agreement({family, shape, 0, true, false, false, causal});
        expect_agreement({family, shape, 0, false, true, false, causal});
        expect_agreement({family, shape, 0, false, false, true, causal});
        expect_agreement({family, shape, 2.0F, true, true, true, causal});
      }
    }
  }
}

}  // namespace
}  // namespace fovea
