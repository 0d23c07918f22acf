#include "attention/both_paths.hpp"

namespace fovea {
namespace {

using test::check_gradients;
using test::random_tensor;

HierarchicalAttention layer(const std::vector<Var>& in) {
  return {{in[1], in[2], in[3]}, {in[4], in[5], in[6]}};
}

const std::vector<std::int64_t> kWords{4, 2, 0, 3, 1, 4}, kSentences{2, 3};

TEST(Hierarchical, GradientsMatchFiniteDifferences) {
  check_gradients(
      [](const auto& in) { return layer(in)(in[0], {.words = kWords, .sentences = kSentences}).document; },
      {random_tensor({2, 3, 4, 3}, 1), random_tensor({5, 3}, 2, 0.5F), random_tensor({1, 5}, 3), random_tensor({5}, 4),
       random_tensor({4, 3}, 5, 0.5F), random_tensor({1, 4}, 6), random_tensor({4}, 7)});
}

TEST(Hierarchical, WeightsOfBothLevelsSumToOneAndIgnorePadding) {
  const HierarchicalAttention h = HierarchicalAttention::make(3, 3, 5, 1);
  const auto read = h(random_tensor({2, 3, 4, 3}, 1), {.words = kWords, .sentences = kSentences});
  ASSERT_EQ(read.document.shape(), (Shape{2, 3}));
  ASSERT_EQ(read.word_weights.shape(), (Shape{2, 3, 4}));
  ASSERT_EQ(read.sentence_weights.shape(), (Shape{2, 3}));
  for (std::size_t s = 0; s < 6; ++s) {
    float sum = 0;
    for (std::size_t t = 0; t < 4; ++t) sum += read.word_weights.value().values()[s * 4 + t];
    EXPECT_NEAR(sum, kWords[s] > 0 ? 1.0F : 0.0F, 1e-5);
  }
  EXPECT_EQ(read.sentence_weights.value().values()[2], 0.0F);
}

TEST(Hierarchical, TheCallersEncoderStandsBetweenTheLevels) {
  const HierarchicalAttention h = HierarchicalAttention::make(3, 2, 5, 1);
  int calls = 0;
  const auto read = h(random_tensor({2, 3, 4, 3}, 1), {}, [&](const Var& s) {
    ++calls;
    EXPECT_EQ(s.shape(), (Shape{2, 3, 3}));
    return Var(random_tensor({2, 3, 2}, 2));
  });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(read.document.shape(), (Shape{2, 2}));
}

}  // namespace
}  // namespace fovea
