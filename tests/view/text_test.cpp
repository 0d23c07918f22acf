#include "view/text.hpp"

#include <gtest/gtest.h>

namespace fovea::view {
namespace {

TEST(Columns, CountWideCharactersTwiceAndCombiningOnesNotAtAll) {
  EXPECT_EQ(columns("cat"), 3);
  EXPECT_EQ(columns("小猫"), 4);
  EXPECT_EQ(columns("，"), 2);
  EXPECT_EQ(columns("▁the"), 4);
  EXPECT_EQ(columns("e\u0301te\u0301"), 3);
  EXPECT_EQ(columns("한국어"), 6);
  EXPECT_EQ(columns("ｶﾅ"), 2);
  EXPECT_EQ(columns("🐱"), 2);
  EXPECT_EQ(columns("\U00020000"), 2);
  EXPECT_EQ(columns(""), 0);
}

TEST(Fit, NeverTakesMoreColumnsThanAllowed) {
  EXPECT_EQ(fit("kitten", 6), "kitten");
  EXPECT_EQ(fit("kitten", 5), "kitt…");
  EXPECT_EQ(fit("小猫好可爱", 5), "小猫…");
  EXPECT_EQ(fit("小猫好可爱", 6), "小猫…");  // half a character is not shown
  for (int width = 0; width < 12; ++width) EXPECT_LE(columns(fit("看小猫abc，它e\u0301好", width)), width);
}

TEST(Pad, FillsToColumnsNotToBytes) {
  EXPECT_EQ(pad_right("猫", 4), "猫  ");
  EXPECT_EQ(pad_left("猫", 4), "  猫");
  EXPECT_EQ(pad_left("toolong", 3), "toolong");
}

TEST(Clean, GivesValidTextWithoutControlCharacters) {
  EXPECT_EQ(clean("a\tb\x1b[31m"), "a␉b␛[31m");
  EXPECT_EQ(clean("\xff\xc3"), "\uFFFD\uFFFD");
  EXPECT_EQ(clean("\xc0\xaf"), "\uFFFD\uFFFD");            // overlong
  EXPECT_EQ(clean("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");  // half of a surrogate pair
  EXPECT_EQ(clean("\xf4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(clean("a\u202Eb\u2066c"), "abc");
  EXPECT_EQ(clean("\u0085\uFFFF\x7f"), "\uFFFD\uFFFD␡");
  EXPECT_EQ(clean("看 é 🐱"), "看 é 🐱");
}

TEST(EscapeMarkup, LeavesNothingThatRuns) {
  EXPECT_EQ(escape_markup("<img src=x onerror='a(\"b\")'> & co"),
            "&lt;img src=x onerror=&#39;a(&quot;b&quot;)&#39;&gt; &amp; co");
}

TEST(EscapeScriptJson, CannotEndTheScript) {
  EXPECT_EQ(escape_script_json("[\"</script><!--&\u2028\"]"), "[\"\\u003c/script\\u003e\\u003c!--\\u0026\\u2028\"]");
}

TEST(Label, IsNeverBlank) {
  EXPECT_EQ(label("", 5), "␣");
  EXPECT_EQ(label("  ", 5), "␣");
  EXPECT_EQ(label("word", 3), "wo…");
}

}  // namespace
}  // namespace fovea::view
