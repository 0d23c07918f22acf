// Tables that are trained by rows: values, gradients, and what Adam does with them.
#include "fovea/nn/row_table.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/error.hpp"
#include "fovea/nn/embedding.hpp"
#include "fovea/ops.hpp"

namespace fovea {
namespace {

// The gradient of all rows.
std::vector<float> whole(const RowGradient& g, std::int64_t rows) {
  std::vector<float> out(static_cast<std::size_t>(rows * g.width()), 0.0F);
  for (std::size_t i = 0; i < g.rows().size(); ++i) {
    for (std::int64_t k = 0; k < g.width(); ++k) {
      out[static_cast<std::size_t>(g.rows()[i] * g.width() + k)] = g.values(i)[k];
    }
  }
  return out;
}

TEST(RowTable, RowsAndTheirGradientAreThoseOfAnEmbedding) {
  for (const std::int64_t width : {1, 7, 8, 9, 33}) {
    Parameters p(3);
    const Embedding plain(p, "words", 6, width);
    const RowTable table(p, "words", 6, width);
    const std::vector<std::int32_t> ids{5, 2, 5, 1};
    const Var a = plain(ids, {2, 2});
    const Var b = table(ids, {2, 2});
    ASSERT_EQ(b.shape(), (Shape{2, 2, width}));
    for (std::int64_t i = 0; i < a.size(); ++i) EXPECT_EQ(a.value().data()[i], b.value().data()[i]);
    backward(sum(mul(a, a)));
    backward(sum(mul(b, b)));
    EXPECT_EQ(table.gradient->rows().size(), 3U) << "of three different words";
    const auto rows = whole(*table.gradient, 6);
    for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(rows[i], plain.table.grad().data()[i], 1e-5F);
    table.gradient->clear();
    EXPECT_TRUE(table.gradient->rows().empty());
    EXPECT_EQ(table.gradient->row(5)[0], 0.0F) << "a new row begins with zeros";
  }
}

TEST(RowTable, ABagIsTheSumOverTheRootOfItsSize) {
  Parameters p(3);
  const RowTable table(p, "words", 6, 9, {.scaled = false});
  const std::vector<std::int32_t> ids{1, 2, 3, 5};
  const std::vector<std::int32_t> ends{3, 3, 4};  // three rows, none, one
  const Var y = table.bags(ids, ends, {3});
  const auto row = [&](std::int64_t r, std::int64_t k) { return table.table.data()[r * 9 + k]; };
  for (std::int64_t k = 0; k < 9; ++k) {
    EXPECT_NEAR(y.value().data()[k], (row(1, k) + row(2, k) + row(3, k)) / std::sqrt(3.0F), 1e-6F);
    EXPECT_EQ(y.value().data()[9 + k], 0.0F);
    EXPECT_EQ(y.value().data()[18 + k], row(5, k));
  }
}

TEST(RowTable, GradientsOfBagsMatchFiniteDifferences) {
  Parameters p(3);
  const RowTable table(p, "words", 5, 3);
  const std::vector<std::int32_t> ids{1, 2, 2, 4, 1};
  const std::vector<std::int32_t> ends{3, 5};
  const auto loss = [&] {
    const Var y = table.bags(ids, ends, {2});
    return sum(mul(y, tanh(y)));
  };
  backward(loss());
  const auto gradient = whole(*table.gradient, 5);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    float& weight = table.table.data()[i];
    const float kept = weight;
    weight = kept + 1e-2F;
    const float up = loss().value().item();
    weight = kept - 1e-2F;
    const float down = loss().value().item();
    weight = kept;
    EXPECT_NEAR(gradient[i], (up - down) / 2e-2F, 2e-2F) << i;
  }
}

TEST(RowTable, RefusesWhatIsNotThere) {
  Parameters p(3);
  const RowTable table(p, "words", 5, 3);
  const std::vector<std::int32_t> ids{1, 5};
  EXPECT_THROW((void)table(ids, {2}), Error);
  EXPECT_THROW((void)table(std::vector<std::int32_t>{1}, {2}), ShapeError);
  EXPECT_THROW((void)table.bags(std::vector<std::int32_t>{1}, std::vector<std::int32_t>{2}, {1}), ShapeError);
  EXPECT_THROW((void)table.bags(std::vector<std::int32_t>{1, 2}, std::vector<std::int32_t>{2, 1}, {2}), ShapeError);
}

}  // namespace
}  // namespace fovea
