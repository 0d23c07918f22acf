#include "attention/both_paths.hpp"
#include "support/parameter_gradcheck.hpp"

namespace fovea {
namespace {

using test::check_gradients;
using test::random_tensor;

const std::vector<std::int64_t> kWords{4, 2, 0, 3, 1, 4}, kSentences{2, 3};

TEST(Hierarchical, GradientsMatchFiniteDifferences) {
  check_gradients(
      [](Parameters& p, const auto& in) {
        const HierarchicalAttention layer(p, "document", {.word_dim = 3, .hidden = 5});
        return layer(in[0], {.words = kWords, .sentences = kSentences}).document;
      },
      {random_tensor({2, 3, 4, 3}, 1)});
}

TEST(Hierarchical, WeightsOfBothLevelsSumToOneAndIgnorePadding) {
  Parameters p;
  const HierarchicalAttention h(p, "document", {.word_dim = 3, .hidden = 5});
  const auto result = h(random_tensor({2, 3, 4, 3}, 1), {.words = kWords, .sentences = kSentences});
  ASSERT_EQ(result.document.shape(), (Shape{2, 3}));
  ASSERT_EQ(result.word_weights.shape(), (Shape{2, 3, 4}));
  ASSERT_EQ(result.sentence_weights.shape(), (Shape{2, 3}));
  for (std::size_t s = 0; s < 6; ++s) {
    float sum = 0;
    for (std::size_t t = 0; t < 4; ++t) sum += result.word_weights.value().values()[s * 4 + t];
    EXPECT_NEAR(sum, kWords[s] > 0 ? 1.0F : 0.0F, 1e-5);
  }
  EXPECT_EQ(result.sentence_weights.value().values()[2], 0.0F);
}

TEST(Hierarchical, TheCallersEncoderRunsBetweenTheLevels) {
  Parameters p;
  const HierarchicalAttention h(p, "document", {.word_dim = 3, .sentence_dim = 2, .hidden = 5});
  int calls = 0;
  const auto result = h(random_tensor({2, 3, 4, 3}, 1), {}, [&](const Var& s) {
    ++calls;
    EXPECT_EQ(s.shape(), (Shape{2, 3, 3}));
    return Var(random_tensor({2, 3, 2}, 2));
  });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(result.document.shape(), (Shape{2, 2}));
}

}  // namespace
}  // namespace fovea
