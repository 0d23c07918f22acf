#include "attention/both_paths.hpp"
#include "fovea/error.hpp"
#include "support/parameter_gradcheck.hpp"

namespace fovea {
namespace {

using test::check_gradients;
using test::random_tensor;

TEST(MultiRepresentational, GradientsMatchFiniteDifferences) {
  check_gradients(
      [](Parameters& p, const auto& in) {
        const std::vector<std::int64_t> dims{4, 2};
        return MultiRepresentational(p, "embeddings", dims, 5)(in).mixed;
      },
      {random_tensor({2, 3, 4}, 1), random_tensor({2, 3, 2}, 2)});
}

TEST(MultiRepresentational, EachWordHasItsOwnWeights) {
  const std::vector<std::int64_t> dims{4, 2, 3};
  Parameters p;
  const MultiRepresentational m(p, "embeddings", dims, 5);
  const std::vector<Var> embeddings{random_tensor({2, 3, 4}, 1), random_tensor({2, 3, 2}, 2),
                                    random_tensor({2, 3, 3}, 3)};
  const auto mixed = m(embeddings);
  ASSERT_EQ(mixed.mixed.shape(), (Shape{2, 3, 5}));
  ASSERT_EQ(mixed.weights.shape(), (Shape{2, 3, 3}));
  for (std::size_t w = 0; w < 6; ++w) {
    const auto row = mixed.weights.value().values().subspan(w * 3, 3);
    EXPECT_NEAR(row[0] + row[1] + row[2], 1.0F, 1e-6);
  }
  EXPECT_THROW((void)m(std::span(embeddings).first(2)), ShapeError);
  EXPECT_THROW((void)m(std::vector<Var>{embeddings[0], embeddings[0], embeddings[2]}), ShapeError);
}

}  // namespace
}  // namespace fovea
