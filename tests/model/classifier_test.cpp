// The head that chooses a label: gradients of every pooling, what it attends to, and what it cannot be.
#include <gtest/gtest.h>

#include "fovea/error.hpp"
#include "fovea/model/classifier_head.hpp"
#include "fovea/model/text_classifier.hpp"
#include "support/parameter_gradcheck.hpp"

namespace fovea {
namespace {

const std::vector<std::int64_t> kLengths{4, 2, 1};
const std::vector<std::int32_t> kLabels{2, 0, 1};
const std::vector<std::int64_t> kOneEach{1, 1, 1};  // sentences of each text
const std::vector<Pooling> kPoolings{Pooling::learned, Pooling::context, Pooling::hops, Pooling::hierarchical,
                                     Pooling::mean,    Pooling::max,     Pooling::last};

ClassifierConfig config_of(Pooling pooling) {
  return {.pooling = pooling, .labels = 3, .hidden = 5, .hops = 2, .sentence_dim = 3};
}

TEST(ClassifierHead, GradientsMatchFiniteDifferencesForEveryPooling) {
  for (const Pooling pooling : kPoolings) {
    SCOPED_TRACE(enum_text(pooling));
    test::check_gradients(
        [&](Parameters& p, const std::vector<Var>& in) {
          const ClassifierHead head(config_of(pooling), 6, p);
          Pass pass;
          return head
              .loss({.states = in[0], .summary = in[1], .lengths = kLengths}, kOneEach, kLabels, {.hops_penalty = 0.3F},
                    pass)
              .loss;
        },
        {test::random_tensor({3, 4, 6}, 1), test::random_tensor({3, 6}, 2)}, {.step = 5e-3});
  }
}

TEST(ClassifierHead, WeightsOfAttentionSumToOneAndPaddingGetsNone) {
  for (const Pooling pooling : {Pooling::learned, Pooling::context, Pooling::hops}) {
    Parameters p(1);
    const ClassifierHead head(config_of(pooling), 6, p);
    Pass pass;
    const Tensor w = head.pool({.states = test::random_tensor({3, 4, 6}, 1), .lengths = kLengths}, {}, pass, true)
                         .weights.value()
                         .contiguous();
    ASSERT_EQ(w.shape(), (Shape{3, pooling == Pooling::hops ? 2 : 1, 4}));
    for (std::int64_t r = 0; r < w.dim(0) * w.dim(1); ++r) {
      float sum = 0;
      for (std::int64_t t = 0; t < 4; ++t) {
        const float weight = w.data()[r * 4 + t];
        sum += weight;
        if (t >= kLengths[static_cast<std::size_t>(r / w.dim(1))]) {
          EXPECT_EQ(weight, 0.0F);
        }
      }
      EXPECT_NEAR(sum, 1.0F, 1e-5F);
    }
  }
}

TEST(ClassifierHead, PaddingDoesNotMatter) {
  for (const Pooling pooling : kPoolings) {
    Parameters p(1);
    const ClassifierHead head(config_of(pooling), 6, p);
    const Tensor states = test::random_tensor({3, 4, 6}, 1);
    const Tensor summary = test::random_tensor({3, 6}, 2);
    Pass pass;
    const Memory memory{.states = states, .summary = summary, .lengths = kLengths};
    const Tensor before = head.pool(memory, kOneEach, pass).vector.value().clone();
    states.select(0, 2).select(0, 3).fill(1e6F);
    const Tensor after = head.pool(memory, kOneEach, pass).vector.value();
    EXPECT_EQ(std::vector<float>(before.values().begin(), before.values().end()),
              std::vector<float>(after.values().begin(), after.values().end()))
        << enum_text(pooling);
  }
}

TEST(ClassifierHead, ThePenaltyIsSmallestWhenHopsAttendToDifferentWords) {
  Parameters p(1);
  const ClassifierHead head(config_of(Pooling::hops), 6, p);
  const Memory memory{.states = test::random_tensor({3, 4, 6}, 1), .lengths = kLengths};
  const auto loss = [&](float penalty) {
    Pass pass;
    return head.loss(memory, {}, kLabels, {.hops_penalty = penalty}, pass).loss.value().item();
  };
  // The third text has one word: both hops attend to it, A A' is all ones, and its squared distance from I is 2.
  EXPECT_GT(loss(1.0F), loss(0.0F) + 2.0F);
}

TEST(ClassifierHead, GradientsOfDocumentsMatchFiniteDifferences) {
  const std::vector<std::int64_t> sentences{2, 1};
  const std::vector<std::int32_t> labels{2, 0};
  for (const int units : {0, 3}) {
    ClassifierConfig config = config_of(Pooling::hierarchical);
    config.sentence_dim = units;
    test::check_gradients(
        [&](Parameters& p, const std::vector<Var>& in) {
          const ClassifierHead head(config, 6, p);
          Pass pass;
          return head.loss({.states = in[0], .lengths = kLengths}, sentences, labels, {}, pass).loss;
        },
        {test::random_tensor({3, 4, 6}, 1)}, {.step = 5e-3});
  }
}

TEST(ClassifierHead, ADocumentsSentencesDoNotSeeOtherDocuments) {
  Parameters p(1);
  const ClassifierHead head(config_of(Pooling::hierarchical), 6, p);
  const Tensor states = test::random_tensor({3, 4, 6}, 1);
  const Memory memory{.states = states, .lengths = kLengths};
  Pass pass;
  const auto pooled = [&](const std::vector<std::int64_t>& sentences) {
    return head.pool(memory, sentences, pass, true);
  };
  const std::vector<std::int64_t> two_and_one{2, 1};
  const std::vector<std::int64_t> one_and_two{1, 2};
  const Tensor a = pooled(two_and_one).sentence_weights.value().contiguous();
  EXPECT_NEAR(a.data()[0] + a.data()[1], 1.0F, 1e-5F);
  EXPECT_EQ(a.data()[2], 1.0F);
  EXPECT_EQ(a.data()[3], 0.0F) << "the second text has one sentence";
  const Tensor before = pooled(one_and_two).vector.value().clone();
  states.select(0, 2).fill(0.5F);
  const Tensor after = pooled(one_and_two).vector.value();
  for (std::int64_t i = 0; i < 6; ++i) EXPECT_EQ(before.data()[i], after.data()[i]) << "of the first text";
  EXPECT_NE(before.data()[6], after.data()[6]);
  const std::vector<std::int64_t> too_few{1, 1};
  EXPECT_THROW((void)pooled(too_few), ShapeError);
}

TEST(TextClassifier, RefusesTheLastStateOfAnEncoderThatHasNone) {
  ModelConfig config;
  config.tokens().vocabulary = 10;
  config.head = config_of(Pooling::last);
  Parameters p(1);
  EXPECT_THROW(TextClassifier(config, p), UsageError);
  config.encoder = RnnEncoderConfig{.dim = 8};
  EXPECT_NO_THROW(TextClassifier(config, p));
}

}  // namespace
}  // namespace fovea
