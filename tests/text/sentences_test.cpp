// A text cut into sentences.
#include "text/sentences.hpp"

#include <gmock/gmock.h>

#include <string>

namespace fovea::text {
namespace {

using testing::ElementsAre;

std::vector<std::string> sentences(std::string_view text, std::size_t longest = 400) {
  std::vector<std::string> out;
  std::string all;
  for (const Part& part : split_sentences(text, longest)) {
    all += part.text;
    if (part.sentence) out.emplace_back(part.text);
  }
  EXPECT_EQ(all, text) << "nothing is lost";
  return out;
}

TEST(Sentences, EndAtMarksBeforeACapital) {
  EXPECT_THAT(sentences("One two. Three! Four? “Five.” Six"),
              ElementsAre("One two.", "Three!", "Four?", "“Five.”", "Six"));
  EXPECT_THAT(sentences("Wait... what? No."), ElementsAre("Wait... what?", "No."));
  EXPECT_THAT(sentences("Ändern. Übrig."), ElementsAre("Ändern.", "Übrig."));
}

TEST(Sentences, StayWholeAtAbbreviationsNumbersAndDates) {
  EXPECT_THAT(sentences("Dr. Smith met J. R. Jones."), ElementsAre("Dr. Smith met J. R. Jones."));
  EXPECT_THAT(sentences("3 Mar. 2021"), ElementsAre("3 Mar. 2021"));
  EXPECT_THAT(sentences("Mon. 3 Mar. 2021"), ElementsAre("Mon. 3 Mar. 2021"));
  EXPECT_THAT(sentences("It is 3.5 m long, e.g. here."), ElementsAre("It is 3.5 m long, e.g. here."));
  EXPECT_THAT(sentences("Am 13. Mai 2021 kam er. Dann ging sie."),
              ElementsAre("Am 13. Mai 2021 kam er.", "Dann ging sie."));
  EXPECT_THAT(sentences("Am 3. März kam er."), ElementsAre("Am 3. März kam er."));
  EXPECT_THAT(sentences("I have 7. He has 8. They left."), ElementsAre("I have 7.", "He has 8.", "They left."));
}

TEST(Sentences, OfScriptsWithoutSpacesEndAtTheirMarks) {
  EXPECT_THAT(sentences("看小猫，它好可爱。真的吗？「是。」好"),
              ElementsAre("看小猫，它好可爱。", "真的吗？", "「是。」", "好"));
}

TEST(Sentences, EndWithTheLine) {
  EXPECT_THAT(sentences("one\ntwo\r\n\n three "), ElementsAre("one", "two", "three"));
}

TEST(Sentences, ThatAreTooLongAreCutAtAPauseOrASpace) {
  EXPECT_THAT(sentences("aaaa bbbb, cccc dddd", 12), ElementsAre("aaaa bbbb,", "cccc dddd"));
  EXPECT_THAT(sentences("aaaa bbbb cccc", 10), ElementsAre("aaaa bbbb", "cccc"));
  EXPECT_THAT(sentences("ééééé", 2), ElementsAre("éé", "éé", "é"));
}

}  // namespace
}  // namespace fovea::text
