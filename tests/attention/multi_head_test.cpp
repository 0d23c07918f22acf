#include "attention/both_paths.hpp"
#include "fovea/error.hpp"

namespace fovea {
namespace {

using test::check_gradients;
using test::random_tensor;

// A layer whose weights are the test's inputs from `first` on.
MultiHead layer(const std::vector<Var>& in, std::size_t first, std::int64_t heads, std::int64_t kv_heads) {
  return {in[first],     in[first + 1], in[first + 2], in[first + 3], in[first + 4],
          in[first + 5], in[first + 6], in[first + 7], heads,         kv_heads};
}

std::vector<Tensor> weights(std::int64_t dim, std::int64_t memory, std::int64_t kv) {
  return {random_tensor({dim, dim}, 1, 0.5F),
          random_tensor({memory, kv}, 2, 0.5F),
          random_tensor({memory, kv}, 3, 0.5F),
          random_tensor({dim, dim}, 4, 0.5F),
          random_tensor({dim}, 5),
          random_tensor({kv}, 6),
          random_tensor({kv}, 7),
          random_tensor({dim}, 8)};
}

TEST(MultiHead, GradientsMatchFiniteDifferencesForAllKindsOfKeyHeads) {
  for (const std::int64_t kv_heads : {4, 2, 1}) {  // multi-head, grouped-query, multi-query
    SCOPED_TRACE(kv_heads);
    std::vector<Tensor> inputs{random_tensor({2, 3, 8}, 9), random_tensor({2, 5, 6}, 10)};
    for (const Tensor& t : weights(8, 6, 2 * kv_heads)) inputs.push_back(t);
    const std::vector<std::int64_t> lengths{5, 2};
    check_gradients(
        [&](const auto& in) { return layer(in, 2, 4, kv_heads)(in[0], in[1], {.lengths = lengths}).context; }, inputs,
        {.per_input = 12});
  }
}

TEST(SelfAttention, GradientsMatchFiniteDifferences) {
  std::vector<Tensor> inputs{random_tensor({2, 4, 6}, 9)};
  for (const Tensor& t : weights(6, 6, 6)) inputs.push_back(t);
  check_gradients([&](const auto& in) { return SelfAttention{layer(in, 1, 2, 2)}(in[0], {.causal = true}).context; },
                  inputs, {.per_input = 12});
}

TEST(CrossAttention, GradientsMatchFiniteDifferences) {
  check_gradients(
      [](const auto& in) {
        const CrossAttention look{.score = score::General{.w = in[2]}, .normalizer = normalizer::Softmax{2}};
        return look(in[0], in[1]).context;
      },
      {random_tensor({2, 3, 4}, 1), random_tensor({2, 5, 6}, 2), random_tensor({4, 6}, 3, 0.5F)});
}

TEST(MultiHead, OneHeadWithUnitMatricesIsPlainAttention) {
  const Tensor unit = Tensor::zeros({4, 4});
  for (std::int64_t i = 0; i < 4; ++i) unit.data()[i * 5] = 1;
  const MultiHead one{unit, unit, unit, unit};
  const Tensor x = random_tensor({2, 3, 4}, 1), m = random_tensor({2, 5, 4}, 2);
  test::expect_near(one(x, m).context.value(), attend(x, m, m).context.value(), 1e-6);
}

TEST(MultiHead, RememberedMemoryGivesTheSame) {
  const MultiHead m = MultiHead::make({.dim = 8, .heads = 4, .kv_heads = 2, .memory_dim = 6}, 3);
  const Tensor x = random_tensor({2, 3, 8}, 1), memory = random_tensor({2, 5, 6}, 2);
  const Attended direct = m(x, memory, {.want = {.weights = true}});
  test::expect_same_bytes(m(x, memory).context.value(), m.look(x, m.remember(memory)).context.value());
  EXPECT_EQ(direct.weights.shape(), (Shape{2, 4, 3, 5}));
  EXPECT_EQ(m.parameters().size(), 8U);
}

TEST(MultiHead, SizesThatDoNotDivideAreRefused) {
  EXPECT_THROW((void)MultiHead::make({.dim = 8, .heads = 3}, 1), UsageError);
  EXPECT_THROW((void)MultiHead::make({.dim = 8, .heads = 4, .kv_heads = 3}, 1), UsageError);
  EXPECT_THROW((void)MultiHead::make({.dim = 8, .heads = 4}, 1)(Tensor::zeros({2, 3, 7}), Tensor::zeros({2, 3, 8})),
               ShapeError);
}

}  // namespace
}  // namespace fovea
