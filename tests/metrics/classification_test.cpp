#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/error.hpp"
#include "fovea/metrics.hpp"
#include "support/metrics_golden.hpp"

namespace fovea {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void expect_means(const LabelFigures& mean, const nlohmann::json& wanted) {
  EXPECT_NEAR(mean.precision, wanted[0].get<double>(), 1e-9);
  EXPECT_NEAR(mean.recall, wanted[1].get<double>(), 1e-9);
  EXPECT_NEAR(mean.f1, wanted[2].get<double>(), 1e-9);
}

TEST(ClassificationScores, EqualsTheFormulasInFractions) {
  const auto golden = test::metrics_golden("classification");
  const auto& figures = golden["figures"];
  const ClassificationScores result =
      classification(golden["hypotheses"].get<Lines>(), golden["references"].get<Lines>());
  EXPECT_NEAR(result.accuracy, figures["accuracy"].get<double>(), 1e-9);
  ASSERT_EQ(result.labels.size(), figures["labels"].size());
  for (std::size_t i = 0; i < result.labels.size(); ++i) {
    const auto& wanted = figures["labels"][i];
    EXPECT_EQ(result.labels[i].label, wanted[0]);
    expect_means(result.labels[i], {wanted[1], wanted[2], wanted[3]});
    EXPECT_EQ(result.labels[i].support, wanted[4]);
    EXPECT_EQ(result.labels[i].predicted, wanted[5]);
  }
  expect_means(result.macro, figures["macro"]);
  expect_means(result.weighted, figures["weighted"]);
  std::vector<std::vector<std::int64_t>> matrix(result.labels.size(), std::vector<std::int64_t>(result.labels.size()));
  for (const LabelPair& one : result.confusion) matrix[one.reference][one.hypothesis] = one.count;
  EXPECT_EQ(nlohmann::json(matrix), figures["confusion"]);
}

TEST(ClassificationScores, ByHand) {
  // cat: 2 right of 3 predicted and 2 in the references; dog: 1 of 1 and 2.
  const ClassificationScores result = classification({"cat", "cat ", "cat", "dog"}, {" cat", "cat", "dog", "dog"});
  EXPECT_EQ(result.accuracy, 75);
  EXPECT_NEAR(result.labels[0].precision, 200.0 / 3, 1e-9);
  EXPECT_EQ(result.labels[0].recall, 100);
  EXPECT_NEAR(result.labels[0].f1, 80, 1e-9);
  EXPECT_NEAR(result.labels[1].f1, 200.0 / 3, 1e-9);
  EXPECT_NEAR(result.macro.f1, (80 + 200.0 / 3) / 2, 1e-9);
  EXPECT_THAT(result.never_predicted(), ElementsAre());
  EXPECT_THAT(result.not_in_references(), ElementsAre());
}

TEST(ClassificationScores, LabelsOfOneSideOnlyScore0AndAreNamed) {
  const ClassificationScores result = classification({"x", "a"}, {"a", "b"});
  EXPECT_EQ(result.accuracy, 0);
  EXPECT_EQ(result.macro.f1, 0);
  EXPECT_THAT(result.never_predicted(), ElementsAre("b"));
  EXPECT_THAT(result.not_in_references(), ElementsAre("x"));
}

TEST(ClassificationScores, AnEmptyLabelIsAnErrorThatNamesItsLine) {
  try {
    (void)classification({"a", " "}, {"a", "b"});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("hypothesis 2 is empty"));
  }
  EXPECT_THROW((void)classification({"a"}, {""}), UsageError);
  EXPECT_THROW((void)classification({}, {}), UsageError);
  EXPECT_THROW((void)classification({"a"}, {"a", "b"}), UsageError);
}

}  // namespace
}  // namespace fovea
