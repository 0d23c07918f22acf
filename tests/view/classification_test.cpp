#include "view/classification/classification.hpp"

#include <gmock/gmock.h>

#include "fovea/error.hpp"
#include "support/markup.hpp"

namespace fovea::view {
namespace {

using testing::HasSubstr;
using testing::Not;

// `count` labels, each predicted as the next.
ClassificationScores shifted(int count) {
  Lines hypotheses, references;
  for (int i = 0; i < count; ++i) {
    references.push_back("l" + std::to_string(i));
    hypotheses.push_back("l" + std::to_string((i + 1) % count));
  }
  return classification(hypotheses, references);
}

TEST(ConfusionPicture, IsWellFormedWhateverTheLabelsAre) {
  const ClassificationScores result =
      classification({"<script>", "小猫", "a&b", "a\tb"}, {"'\">", "小猫", "]]>", "a&b"});
  const std::string svg = svg_confusion(result);
  EXPECT_EQ(test::malformed(svg), "");
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, HasSubstr("Accuracy 25.00% (1 of 4 lines)"));
}

TEST(ConfusionPicture, ColoursACellByItsShareOfTheRow) {
  const std::string svg = svg_confusion(classification({"a", "a", "a", "b"}, {"a", "a", "b", "b"}));
  EXPECT_THAT(svg, HasSubstr("<title>reference a, hypothesis a: 2 of 2 lines (100.0%)</title><rect class=\"w20\""));
  EXPECT_THAT(svg, HasSubstr("<title>reference b, hypothesis a: 1 of 2 lines (50.0%)</title><rect class=\"w10\""));
}

TEST(ConfusionPicture, HoldsManyLabelsButNotAny) {
  EXPECT_EQ(test::malformed(svg_confusion(shifted(300))), "");
  EXPECT_THROW((void)svg_confusion(shifted(301)), UsageError);
}

TEST(ClassificationTable, ListsTheMostFrequentMistakesOfManyLabels) {
  EXPECT_THAT(draw_classification(shifted(30), {}, 2), HasSubstr("confusion matrix"));
  const std::string many = draw_classification(shifted(31), {}, 2);
  EXPECT_THAT(many, Not(HasSubstr("confusion matrix")));
  EXPECT_THAT(many, HasSubstr("most frequent mistakes (lines, reference, hypothesis)\n      1  l0  l1\n"));
  EXPECT_THAT(many, HasSubstr("and 11 other pairs of labels\n"));
}

}  // namespace
}  // namespace fovea::view
