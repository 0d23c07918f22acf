#include "view/lesson/lesson.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "fovea/error.hpp"
#include "view/assets.hpp"
#include "view/lesson/equations.hpp"
#include "view/lesson/model_tables.hpp"
#include "view/lesson/worked_lesson.hpp"

namespace fovea::view {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::set<std::string> placeholders(const json& entry) {
  const std::string text = entry.dump();
  std::set<std::string> found;
  for (std::size_t at = text.find('{'); at != text.npos; at = text.find('{', at + 1)) {
    found.insert(text.substr(at, text.find('}', at) - at));
  }
  return found;
}

TEST(LessonWords, BothLanguagesHaveEveryKeyWithTheSamePlaceholders) {
  const json words = json::parse(asset("lesson_words.json"));
  for (const auto& [key, entry] : words.items()) {
    if (entry.is_string()) continue;
    ASSERT_EQ(entry.size(), 2U) << key;
    EXPECT_EQ(placeholders(entry.at("en")), placeholders(entry.at("zh"))) << key;
  }
}

TEST(LessonWords, FillsPlaceholdersWithTextsAndMessages) {
  const Message message = Message::of("next.chosen", {{"token", Message::of("token.end")}});
  EXPECT_EQ(LessonWords(LessonLanguage::english)(message), "chosen: ‹end›");
  EXPECT_EQ(LessonWords(LessonLanguage::chinese)(message), "选中：‹句末›");
  EXPECT_EQ(LessonWords(LessonLanguage::english)("as {it} is"), "as {it} is");
  EXPECT_THROW((void)LessonWords(LessonLanguage::english)(Message::of("no.such.key")), Error);
  EXPECT_THROW((void)LessonWords(LessonLanguage::english)(Message::of("next.chosen")), Error);
}

TEST(LessonJson, HoldsNumbersAndKeysInsteadOfText) {
  WorkedInput in = made_up_input({"a", "<b>"}, 4, 1, 3);
  in.causal = true;
  const Lesson lesson = self_attention_lesson(work(in), "a <b>", Message::of("origin.made_up", {{"seed", 3}}));
  const json data = json::parse(lesson_json(lesson));
  EXPECT_EQ(data["title"], json({{"key", "self.title"}}));
  EXPECT_EQ(data["lead"]["values"]["origin"]["values"]["seed"], "3");
  const json& x = data["steps"][0]["tables"][0];
  EXPECT_EQ(x["id"], "X");
  EXPECT_EQ(x["rows"], json({"a", "<b>"}));
  EXPECT_EQ(x["values"][1][2].get<float>(), in.x.at(1, 2));
  const json& scaled = data["steps"][4]["tables"][0];
  EXPECT_EQ(scaled["id"], "S/√d.0");
  EXPECT_TRUE(scaled["values"][0][1].is_null());  // hidden: it comes later
}

TEST(LessonPage, HasTheLanguageOfTheLessonAndNoMarkupInItsData) {
  Lesson lesson = scores_lesson(work_scores({1, 2}, 0));
  lesson.steps[0].text = {"</script><b>"};
  lesson.language = LessonLanguage::chinese;
  const std::string page = lesson_page(lesson);
  EXPECT_THAT(page, HasSubstr("<html lang=\"zh-Hans\">"));
  EXPECT_THAT(page, HasSubstr("从分数到权重</h1>"));
  EXPECT_THAT(page, testing::Not(HasSubstr("</script><b>")));
}

TEST(FoldTable, KeepsTheLargestRowsAndColumnsAndThoseAskedFor) {
  LessonTable table{"x", {}, {3, 4, {0, 1, 0, 9, 5, 0, 0, 0, 0, 0, -INFINITY, 0}}};
  const LessonTable folded = fold_table(table, {.most_columns = 2, .most_rows = 2, .keep_rows = {2}});
  EXPECT_EQ(folded.numbers.values, (std::vector<float>{0, 9, 0, 0}));  // rows 1 and 3, columns 1 and 4
  const LessonWords words(LessonLanguage::english);
  EXPECT_THAT(words.each(folded.rows), testing::ElementsAre("#1", "#3"));
  EXPECT_THAT(words.each(folded.columns), testing::ElementsAre("#1", "#4"));
  EXPECT_EQ(words(folded.note), "3 × 4, shown: the 2 rows and 2 columns with the largest entries");
}

TEST(Equations, WriteTheLargestTermsAndTheSumOfTheRest) {
  const LessonWords words(LessonLanguage::english);
  EXPECT_EQ(words(sum_of_products({0.5, -2}, {1, 0.123456}, 8)), "0.5·1 + (−2)·0.12346");
  EXPECT_EQ(words(sum_of_products({1, 3, 1}, {0.25, 2, -0.5}, 1, 2)), "3·2 + (−0.25) (the 2 smaller terms together)");
  EXPECT_THROW((void)sum_of_products({1}, {1, 2}, 8), ShapeError);
  EXPECT_EQ(words(softmax_equation("A", {0, -INFINITY, std::log(3)}, 2, 0.75)),
            "A = e^(1.099 − 1.099) / (e^−1.099 + e^0.000) = 1.0000 / 1.3333 = 0.7500");
}

}  // namespace
}  // namespace fovea::view
