#include "attention/both_paths.hpp"
#include "fovea/error.hpp"

namespace fovea {
namespace {

using test::check_gradients;
using test::random_tensor;

TEST(MultiRepresentational, GradientsMatchFiniteDifferences) {
  check_gradients(
      [](const auto& in) {
        const MultiRepresentational m{{{in[2], in[3]}, {in[4], in[5]}}, in[6]};
        return m(std::vector<Var>{in[0], in[1]}).mixed;
      },
      {random_tensor({2, 3, 4}, 1), random_tensor({2, 3, 2}, 2), random_tensor({4, 5}, 3, 0.5F), random_tensor({5}, 4),
       random_tensor({2, 5}, 5, 0.5F), random_tensor({5}, 6), random_tensor({1, 5}, 7)});
}

TEST(MultiRepresentational, EachWordChoosesForItself) {
  const std::vector<std::int64_t> dims{4, 2, 3};
  const MultiRepresentational m = MultiRepresentational::make(dims, 5, 1);
  const std::vector<Var> embeddings{random_tensor({2, 3, 4}, 1), random_tensor({2, 3, 2}, 2),
                                    random_tensor({2, 3, 3}, 3)};
  const auto mixed = m(embeddings);
  ASSERT_EQ(mixed.mixed.shape(), (Shape{2, 3, 5}));
  ASSERT_EQ(mixed.weights.shape(), (Shape{2, 3, 3}));
  for (std::size_t w = 0; w < 6; ++w) {
    const auto row = mixed.weights.value().values().subspan(w * 3, 3);
    EXPECT_NEAR(row[0] + row[1] + row[2], 1.0F, 1e-6);
  }
  EXPECT_EQ(m.parameters().size(), 7U);
  EXPECT_THROW((void)m(std::span(embeddings).first(2)), ShapeError);
  EXPECT_THROW((void)m(std::vector<Var>{embeddings[0], embeddings[0], embeddings[2]}), ShapeError);
}

}  // namespace
}  // namespace fovea
