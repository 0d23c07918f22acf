#include "attention/both_paths.hpp"
#include "fovea/error.hpp"
#include "support/parameter_gradcheck.hpp"

namespace fovea {
namespace {

using test::check_gradients;
using test::random_tensor;

TEST(MultiHead, GradientsMatchFiniteDifferencesForAllKindsOfKeyHeads) {
  for (const std::int64_t kv_heads : {4, 2, 1}) {  // multi-head, grouped-query, multi-query
    SCOPED_TRACE(kv_heads);
    const std::vector<std::int64_t> lengths{5, 2};
    check_gradients(
        [&](Parameters& p, const auto& in) {
          const MultiHead layer(p, "layer", {.dim = 8, .heads = 4, .kv_heads = kv_heads, .memory_dim = 6});
          return layer(in[0], in[1], {.lengths = lengths}).context;
        },
        {random_tensor({2, 3, 8}, 9), random_tensor({2, 5, 6}, 10)}, {.per_input = 12});
  }
}

TEST(SelfAttention, GradientsMatchFiniteDifferences) {
  check_gradients(
      [](Parameters& p, const auto& in) {
        return SelfAttention(p, "layer", {.dim = 6, .heads = 2})(in[0], {.causal = true}).context;
      },
      {random_tensor({2, 4, 6}, 9)}, {.per_input = 12});
}

TEST(CrossAttention, GradientsMatchFiniteDifferences) {
  check_gradients(
      [](const auto& in) {
        const CrossAttention layer{.score = score::General{.w = in[2]}, .normalizer = normalizer::Softmax{2}};
        return layer(in[0], in[1]).context;
      },
      {random_tensor({2, 3, 4}, 1), random_tensor({2, 5, 6}, 2), random_tensor({4, 6}, 3, 0.5F)});
}

TEST(MultiHead, OneHeadWithUnitMatricesIsPlainAttention) {
  const Tensor unit = Tensor::zeros({4, 4});
  for (std::int64_t i = 0; i < 4; ++i) unit.data()[i * 5] = 1;
  MultiHead one;
  for (Linear* map : {&one.query, &one.key, &one.value, &one.output}) map->weight.var = unit;
  const Tensor x = random_tensor({2, 3, 4}, 1), m = random_tensor({2, 5, 4}, 2);
  test::expect_near(one(x, m).context.value(), attend(x, m, m).context.value(), 1e-6);
}

TEST(MultiHead, KeysAndValuesProjectedBeforeGiveTheSame) {
  Parameters p(3);
  const MultiHead m(p, "layer", {.dim = 8, .heads = 4, .kv_heads = 2, .memory_dim = 6});
  const Tensor x = random_tensor({2, 3, 8}, 1), memory = random_tensor({2, 5, 6}, 2);
  const Attended direct = m(x, memory, {.want = {.weights = true}});
  const Tensor context = m(x, memory).context.value();
  test::expect_same_bytes(context, m.attend(x, m.project(memory)).context.value());
  test::expect_same_bytes(context, m.attend_projected(m.query(x), m.project(memory)).context.value());
  EXPECT_EQ(direct.weights.shape(), (Shape{2, 4, 3, 5}));
}

TEST(MultiHead, TakesAnyScoreWithoutParameters) {
  Parameters p(3);
  const MultiHead cosine(p, "layer", {.dim = 8, .heads = 2, .score = score::Cosine{.scale = 5}});
  const Tensor x = random_tensor({2, 3, 8}, 1), memory = random_tensor({2, 5, 8}, 2);
  const AttendOptions how{.score = score::Cosine{.scale = 5}, .heads = 2};
  const Var attended = attend(cosine.query(x), cosine.key(memory), cosine.value(memory), how).context;
  test::expect_same_bytes(cosine(x, memory).context.value(), cosine.output(attended).value());
}

// Padding is hidden from the attention, so its rows get the gradient 0, and the maps' gradients add 0 times padding.
TEST(MultiHead, FinitePaddingChangesNoGradient) {
  const std::vector<std::int64_t> lengths{5, 2};
  const Tensor x = random_tensor({2, 3, 8}, 1), dy = random_tensor({2, 3, 8}, 2);
  std::vector<Parameters> runs;
  for (const float padding : {0.0F, 1e6F}) {
    const Tensor memory = random_tensor({2, 5, 8}, 3);
    memory.slice(0, 1, 2).slice(1, 2, 5).fill(padding);
    Parameters p(3);
    backward(MultiHead(p, "layer", {.dim = 8, .heads = 4})(x, memory, {.lengths = lengths}).context, dy);
    runs.push_back(std::move(p));
  }
  for (std::size_t i = 0; i < runs[0].entries().size(); ++i) {
    SCOPED_TRACE(runs[0].entries()[i].name);
    test::expect_same_bytes(runs[0].entries()[i].weight.grad(), runs[1].entries()[i].weight.grad());
  }
}

TEST(MultiHead, PackedWeightsGiveTheSame) {
  Parameters p(3);
  const MultiHeadOptions options{.dim = 8, .heads = 4, .kv_heads = 2};
  const MultiHead plain(p, "layer", options);
  p.pack();
  const MultiHead packed(p, "layer", options);
  ASSERT_TRUE(packed.query.weight.packed);
  const Tensor x = random_tensor({2, 3, 8}, 1);
  const NoGrad quiet;
  test::expect_near(packed(x, x).context.value(), plain(x, x).context.value(), 1e-6);
}

TEST(MultiHead, SizesThatDoNotDivideAreRefused) {
  Parameters p;
  EXPECT_THROW(MultiHead(p, "layer", {.dim = 8, .heads = 3}), UsageError);
  EXPECT_THROW(MultiHead(p, "layer", {.dim = 8, .heads = 4, .kv_heads = 3}), UsageError);
  EXPECT_TRUE(p.entries().empty());
  const MultiHead layer(p, "layer", {.dim = 8, .heads = 4});
  EXPECT_THROW((void)layer(Tensor::zeros({2, 3, 7}), Tensor::zeros({2, 3, 8})), ShapeError);
}

}  // namespace
}  // namespace fovea
