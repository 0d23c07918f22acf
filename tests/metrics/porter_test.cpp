// Stems that Porter's paper and NLTK's documentation give as examples, and words of each rule by hand.
#include <gtest/gtest.h>

#include "fovea/metrics.hpp"

namespace fovea {
namespace {

void expect_stems(const std::vector<std::pair<std::string, std::string>>& pairs) {
  for (const auto& [word, stem] : pairs) EXPECT_EQ(porter_stem(word), stem) << word;
}

TEST(PorterStem, EqualsNltksExamples) {
  expect_stems({{"caresses", "caress"},
                {"flies", "fli"},
                {"dies", "die"},
                {"mules", "mule"},
                {"denied", "deni"},
                {"died", "die"},
                {"agreed", "agre"},
                {"owned", "own"},
                {"humbled", "humbl"},
                {"sized", "size"},
                {"meeting", "meet"},
                {"stating", "state"},
                {"siezing", "siez"},
                {"itemization", "item"},
                {"sensational", "sensat"},
                {"traditional", "tradit"},
                {"reference", "refer"},
                {"colonizer", "colon"},
                {"plotted", "plot"}});
}

TEST(PorterStem, FollowsThePapersSteps) {
  expect_stems({{"ponies", "poni"},         {"caress", "caress"},       {"cats", "cat"},
                {"feed", "feed"},           {"plastered", "plaster"},   {"bled", "bled"},
                {"motoring", "motor"},      {"sing", "sing"},           {"conflated", "conflat"},
                {"troubled", "troubl"},     {"hopping", "hop"},         {"tanned", "tan"},
                {"falling", "fall"},        {"hissing", "hiss"},        {"fizzed", "fizz"},
                {"failing", "fail"},        {"filing", "file"},         {"happy", "happi"},
                {"relational", "relat"},    {"conditional", "condit"},  {"rational", "ration"},
                {"digitizer", "digit"},     {"differently", "differ"},  {"analogously", "analog"},
                {"operator", "oper"},       {"feudalism", "feudal"},    {"decisiveness", "decis"},
                {"hopefulness", "hope"},    {"formality", "formal"},    {"sensitivity", "sensit"},
                {"sensibility", "sensibl"}, {"triplicate", "triplic"},  {"formative", "form"},
                {"formalize", "formal"},    {"electricity", "electr"},  {"electrical", "electr"},
                {"hopeful", "hope"},        {"goodness", "good"},       {"revival", "reviv"},
                {"allowance", "allow"},     {"inference", "infer"},     {"airliner", "airlin"},
                {"gyroscopic", "gyroscop"}, {"adjustable", "adjust"},   {"defensible", "defens"},
                {"irritant", "irrit"},      {"replacement", "replac"},  {"adjustment", "adjust"},
                {"dependent", "depend"},    {"adoption", "adopt"},      {"communism", "commun"},
                {"activate", "activ"},      {"homologous", "homolog"},  {"effective", "effect"},
                {"bowdlerize", "bowdler"},  {"probate", "probat"},      {"rate", "rate"},
                {"cease", "ceas"},          {"controlling", "control"}, {"rolling", "roll"}});
}

TEST(PorterStem, HasTheLaterChanges) {
  expect_stems({{"skies", "sky"},
                {"dying", "die"},
                {"news", "news"},
                {"innings", "inning"},
                {"succeed", "succeed"},
                {"enjoy", "enjoy"},
                {"fly", "fli"},
                {"spied", "spi"},
                {"geology", "geolog"},
                {"archaeology", "archaeolog"},
                {"hopefully", "hope"},
                {"nationally", "nation"},
                {"used", "use"},
                {"by", "by"},
                {"oed", "o"},
                {"2000s", "2000"}});
}

TEST(PorterStem, TakesAnyWord) {
  EXPECT_EQ(porter_stem(""), "");
  EXPECT_EQ(porter_stem("s"), "s");
  EXPECT_EQ(porter_stem("ing"), "ing");
  EXPECT_EQ(porter_stem("eed"), "eed");
  EXPECT_EQ(porter_stem("ies"), "i");
  EXPECT_EQ(porter_stem("sses"), "ss");
  const std::string many(1 << 20, 'y');  // linear in the length, or this would take hours
  EXPECT_EQ(porter_stem(many).size(), many.size());
}

TEST(PorterStem, MakesRougeCompareStemsOfLongWordsOnly) {
  EXPECT_NEAR(rouge({"the dogs were running"}, {{"the dog runs"}}).rouge_1.f1, 100 * 2.0 / 7, 1e-9);
  EXPECT_NEAR(rouge({"the dogs were running"}, {{"the dog runs"}}, {.stem = true}).rouge_1.f1, 100 * 6.0 / 7, 1e-9);
  EXPECT_EQ(rouge({"ads"}, {{"ad"}}, {.stem = true}).rouge_1.f1, 0);  // three characters: not stemmed
}

}  // namespace
}  // namespace fovea
