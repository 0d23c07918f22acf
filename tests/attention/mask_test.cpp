#include <cmath>
#include <limits>

#include "attention/both_paths.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {
namespace {

using test::Attend;
using test::check_gradients;
using test::kBothPaths;
using test::random_tensor;
using Lengths = std::vector<std::int64_t>;

const Tensor q = random_tensor({2, 2, 4, 4}, 1);
const Tensor k = random_tensor({2, 2, 6, 4}, 2);
const Tensor v = random_tensor({2, 2, 6, 3}, 3);

// Which keys each query of the first head has weight on.
std::vector<std::string> visible_keys(const AttendOptions& how, std::int64_t queries = 4, std::int64_t keys = 6) {
  AttendOptions with = how;
  with.want.weights = true;
  std::vector<std::string> first;
  for (const Attend by : kBothPaths) {
    const Tensor t = random_tensor({1, keys, 4}, 5);
    const Tensor w = by(random_tensor({1, queries, 4}, 4), t, t, with).weights.value();
    std::vector<std::string> rows;
    for (std::int64_t i = 0; i < queries; ++i) {
      rows.emplace_back();
      for (std::int64_t j = 0; j < keys; ++j) rows.back() += w.data()[i * keys + j] > 0 ? 'x' : '.';
    }
    if (!first.empty()) {
      EXPECT_EQ(rows, first) << "the paths differ";
    }
    first = rows;
  }
  return first;
}

using Rows = std::vector<std::string>;

TEST(Visibility, CausalLinesUpTheLastQueryWithTheLastKey) {
  EXPECT_EQ(visible_keys({.causal = true}), (Rows{"xxx...", "xxxx..", "xxxxx.", "xxxxxx"}));
  EXPECT_EQ(visible_keys({.causal = true}, 4, 2), (Rows{"..", "..", "x.", "xx"}));
}

TEST(Visibility, WindowReachesBothWays) {
  EXPECT_EQ(visible_keys({.window = 1}), (Rows{".xxx..", "..xxx.", "...xxx", "....xx"}));
  EXPECT_EQ(visible_keys({.causal = true, .window = 0}), (Rows{"..x...", "...x..", "....x.", ".....x"}));
}

TEST(Visibility, AWindowOfAnyWidthIsHarmless) {
  const Rows all(4, "xxxxxx");
  EXPECT_EQ(visible_keys({.window = std::numeric_limits<std::int64_t>::max()}), all);
  EXPECT_EQ(visible_keys({.local = Local{.half_width = std::numeric_limits<std::int64_t>::max()}}), all);
}

TEST(Visibility, LengthsHidePadding) {
  const Lengths lengths{2};
  EXPECT_EQ(visible_keys({.lengths = lengths}), (Rows{"xx....", "xx....", "xx....", "xx...."}));
}

TEST(Visibility, MasksOfAnyBroadcastHide) {
  const std::vector<std::uint8_t> column{1, 0, 1, 1, 0, 1};
  EXPECT_EQ(visible_keys({.mask = Mask::of({6}, column)}), (Rows{"x.xx.x", "x.xx.x", "x.xx.x", "x.xx.x"}));
  const std::vector<std::uint8_t> row{1, 0, 0, 1};
  const auto shared = std::make_shared<std::vector<std::uint8_t>>(column.begin(), column.end());
  const Mask as_it_is = Mask::share({6}, {shared, shared->data()});
  EXPECT_EQ(as_it_is.data(), shared->data());
  EXPECT_EQ(visible_keys({.mask = as_it_is}), (Rows{"x.xx.x", "x.xx.x", "x.xx.x", "x.xx.x"}));
  EXPECT_EQ(visible_keys({.mask = Mask::of({4, 1}, row)}), (Rows{"xxxxxx", "......", "......", "xxxxxx"}));
}

TEST(Visibility, ABiasOfMinusInfinityHides) {
  const float no = -std::numeric_limits<float>::infinity();
  const Tensor bias = Tensor::of({6}, {0.0F, no, 0.0F, 0.0F, no, no});
  EXPECT_EQ(visible_keys({.bias = bias}), (Rows{"x.xx..", "x.xx..", "x.xx..", "x.xx.."}));
}

TEST(Visibility, TheLowestNumberIsABiasLikeAnyOther) {
  for (const Attend by : kBothPaths) {
    for (const std::int64_t queries : {1, 4}) {
      const Tensor keys = random_tensor({1, 6, 4}, 5);
      const Tensor bias = Tensor::zeros({queries, 6});
      bias.fill(std::numeric_limits<float>::lowest());
      const Tensor w =
          by(Tensor::zeros({1, queries, 4}), keys, keys, {.bias = bias, .want = {.weights = true}}).weights.value();
      for (const float x : w.contiguous().values()) EXPECT_NEAR(x, 1.0F / 6, 1e-6);
    }
  }
}

TEST(Visibility, LocalAttendsAroundItsCentre) {
  EXPECT_EQ(visible_keys({.local = Local{.half_width = 1}}), (Rows{"xx....", "xxx...", ".xxx..", "..xxx."}));
  const Tensor centers = Tensor::of({1, 4}, {4.5F, 0.0F, -3.0F, 99.0F});
  EXPECT_EQ(visible_keys({.local = Local{.half_width = 2, .centers = centers}}),
            (Rows{"...xxx", "xxx...", "......", "......"}));
}

TEST(Visibility, GaussianWeightsAreLuongs) {
  const Tensor keys = Tensor::zeros({1, 5, 1});
  const Tensor centers = Tensor::of({1, 1}, {1.5F});
  const Attended a =
      attend(Tensor::zeros({1, 1, 1}), keys, keys,
             {.local = Local{.half_width = 2, .centers = centers, .gaussian = true}, .want = {.weights = true}});
  for (std::int64_t j = 0; j < 4; ++j) {
    const double away = static_cast<double>(j) - 1.5;
    EXPECT_NEAR(a.weights.value().data()[j], 0.25 * std::exp(-away * away / 2), 1e-6);
  }
  EXPECT_EQ(a.weights.value().data()[4], 0.0F);
}

TEST(Visibility, BiasGradientsMatchFiniteDifferencesHoweverTheyBroadcast) {
  const Lengths lengths{6, 3};
  for (const Shape& shape : {Shape{2, 2, 4, 6}, Shape{1, 2, 4, 6}, Shape{2, 1, 4, 6}, Shape{4, 6}, Shape{6},
                             Shape{4, 1}, Shape{2, 1, 1, 6}, Shape{1}}) {
    SCOPED_TRACE(shape.text());
    for (const Attend by : kBothPaths) {
      check_gradients(
          [&](const auto& in) {
            return by(in[0], in[1], in[2], {.causal = true, .lengths = lengths, .bias = in[3]}).context;
          },
          {q, k, v, random_tensor(shape, 7)}, {.per_input = 12});
    }
  }
}

TEST(Visibility, ABiasOfOneHeadMayHaveTheShapeOfTheWeights) {
  const Tensor q3 = random_tensor({2, 4, 4}, 1), k3 = random_tensor({2, 6, 4}, 2), bias = random_tensor({2, 4, 6}, 3);
  for (const Attend by : kBothPaths) {
    test::expect_same_bytes(by(q3, k3, k3, {.bias = bias}).context.value(),
                            by(q3, k3, k3, {.bias = bias.reshape({2, 1, 4, 6})}).context.value());
  }
}

TEST(Visibility, LocalGradientsReachThePredictedCentre) {
  const Lengths lengths{6, 5};
  const Tensor q3 = random_tensor({2, 3, 4}, 1), k3 = random_tensor({2, 6, 4}, 2);
  // A window over all keys, so that differences do not step over its edge.
  check_gradients(
      [&](const auto& in) {
        const Var centers = predict_centers(in[0], in[2], in[3], 6, lengths);
        return attend(in[0], in[1], in[1],
                      {.lengths = lengths, .local = Local{.half_width = 12, .centers = centers, .gaussian = true}})
            .context;
      },
      {q3, k3, random_tensor({5, 4}, 3, 0.5F), random_tensor({5}, 4, 0.5F)});
  check_gradients(
      [&](const auto& in) {
        return attend(in[0], in[1], in[2], {.local = Local{.half_width = 20, .centers = in[3], .gaussian = true}})
            .context;
      },
      {q, k, v, Tensor::of({2, 4}, {0.0F, 1.5F, 3.0F, 4.0F, 2.0F, 2.5F, 1.0F, 5.0F})});
}

TEST(Visibility, EdgesEqualTheMaskTheyDescribe) {
  const std::vector<std::int64_t> start{0, 2, 2, 5, 6}, column{1, 4, 0, 5, 2, 3};
  std::vector<std::uint8_t> mask(24, 0);
  for (std::size_t i = 0; i < 4; ++i) {
    for (auto e = start[i]; e < start[i + 1]; ++e)
      mask[i * 6 + static_cast<std::size_t>(column[static_cast<std::size_t>(e)])] = 1;
  }
  const Edges edges{start, column};
  for (const Normalizer& how : {Normalizer(normalizer::Softmax{}), Normalizer(normalizer::Sparsemax{})}) {
    const Attended a = attend(q, k, v, {.normalizer = how, .edges = edges, .want = {.weights = true}});
    const Attended b = attend(q, k, v, {.normalizer = how, .mask = Mask::of({4, 6}, mask), .want = {.weights = true}});
    test::expect_near(a.context.value(), b.context.value(), 1e-6);
    ASSERT_EQ(a.weights.shape(), (Shape{2, 2, 6}));
    for (std::size_t i = 0; i < 4; ++i) {
      for (auto e = start[i]; e < start[i + 1]; ++e) {
        EXPECT_NEAR(a.weights.value().data()[e],
                    b.weights.value().data()[i * 6 + static_cast<std::size_t>(column[static_cast<std::size_t>(e)])],
                    1e-6);
      }
    }
  }
  check_gradients([&](const auto& in) { return attend(in[0], in[1], in[2], {.edges = edges}).context; }, {q, k, v});
  check_gradients(
      [&](const auto& in) { return attend(in[0], in[1], in[2], {.edges = edges, .want = {.weights = true}}).weights; },
      {q, k, v});
}

TEST(Visibility, BrokenEdgesAreNamed) {
  const std::vector<std::int64_t> start{0, 1, 1, 2, 2}, far{0, 6}, back{0, 2, 1, 2, 2}, fine{0, 5};
  EXPECT_THROW((void)attend(q, k, v, {.edges = {start, far}}), UsageError);
  EXPECT_THROW((void)attend(q, k, v, {.edges = {back, fine}}), UsageError);
  EXPECT_THROW((void)attend(q, k, v, {.edges = {std::span(start).first(4), fine}}), ShapeError);
}

}  // namespace
}  // namespace fovea
