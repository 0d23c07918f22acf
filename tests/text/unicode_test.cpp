#include "text/unicode.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fovea::text {
namespace {

using testing::ElementsAre;

TEST(Unicode, FindsTheFirstByteThatIsNotUtf8) {
  EXPECT_EQ(invalid_utf8("plain, café, 小猫, 😀"), std::string_view::npos);
  EXPECT_EQ(invalid_utf8(""), std::string_view::npos);
  EXPECT_EQ(invalid_utf8("ab\xFF"), 2u);
  EXPECT_EQ(invalid_utf8("\x80"), 0u);              // a tail without a head
  EXPECT_EQ(invalid_utf8("a\xE5\xB0"), 1u);         // cut short
  EXPECT_EQ(invalid_utf8("\xC0\xAF"), 0u);          // overlong /
  EXPECT_EQ(invalid_utf8("\xE0\x80\xAF"), 0u);      // overlong
  EXPECT_EQ(invalid_utf8("\xED\xA0\x80"), 0u);      // a surrogate
  EXPECT_EQ(invalid_utf8("\xF4\x90\x80\x80"), 0u);  // past U+10FFFF
  EXPECT_EQ(invalid_utf8("\xF4\x8F\xBF\xBF"), std::string_view::npos);
}

TEST(Unicode, EveryCodePointSurvivesTheRoundTrip) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string bytes;
    append_utf8(bytes, c);
    ASSERT_EQ(invalid_utf8(bytes), std::string_view::npos);
    std::size_t offset = 0;
    ASSERT_EQ(next_code_point(bytes, offset), c);
    ASSERT_EQ(offset, bytes.size());
  }
  EXPECT_EQ(to_utf8(to_code_points("a é 猫 😀")), "a é 猫 😀");
  EXPECT_EQ(to_code_points("a\xFF"), U"a\uFFFD");
}

TEST(Unicode, LowerCaseIsUnicodes) {
  EXPECT_EQ(to_lower("ABC xyz"), "abc xyz");
  EXPECT_EQ(to_lower("ÀÉ ŁÓDŹ Жук"), "àé łódź жук");
  EXPECT_EQ(to_lower("İ"), "i\u0307");
  EXPECT_EQ(to_lower("ΟΔΟΣ, ΣΑΣ. Σ"), "οδος, σας. σ");
  EXPECT_EQ(to_lower("小猫ẞ"), "小猫ß");
  EXPECT_EQ(to_lower("ΑΣ\u2019 ΑΣ\u2019Α"), "ας\u2019 ασ\u2019α");
  EXPECT_EQ(to_lower("ⓐΣ"), "ⓐς");  // a letter in a circle is cased too
}

TEST(Unicode, KnowsPunctuationLettersAndNumbers) {
  for (const char32_t c : U".-_(“。，」…") EXPECT_EQ(is_punctuation(c), c != 0) << static_cast<int>(c);
  for (const char32_t c : U"aß好9½Ⅷ") EXPECT_EQ(is_letter_or_number(c), c != 0) << static_cast<int>(c);
  for (const char32_t c : U"$+ \u0301") EXPECT_FALSE(is_punctuation(c) || is_letter_or_number(c));
}

TEST(Unicode, WhiteSpaceOfAnyKindSeparatesWords) {
  EXPECT_THAT(split_words("  a\tb\u00A0c\u3000d\u2009e \r"), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(split_words(" \t"), ElementsAre());
  EXPECT_EQ(trim("\u3000 a b \n"), "a b");
  EXPECT_EQ(trim(" \u2003"), "");
}

TEST(Unicode, KnowsScriptsWithoutSpaces) {
  for (const char32_t c : U"猫ひカ々ー、，「ไລខမ𠀀") EXPECT_EQ(is_unspaced(c), c != 0) << static_cast<std::uint32_t>(c);
  for (const char32_t c : U"aé3Жא한“…▁🐱") EXPECT_FALSE(is_unspaced(c)) << static_cast<std::uint32_t>(c);
}

TEST(Unicode, WideCharactersTakeTwoColumnsAndCombiningOnesNone) {
  for (const char32_t c : {U'a', U'é', U'▁', U'ｶ', U'\u00AD', U'…'}) EXPECT_EQ(columns(c), 1);
  for (const char32_t c : {U'猫', U'，', U'한', U'🐱', U'\U00020000', U'\u231A'}) EXPECT_EQ(columns(c), 2);
  for (const char32_t c : {U'\u0301', U'\u200D', U'\uFE0F', U'\u1161', U'\U0001F3FB'}) EXPECT_EQ(columns(c), 0);
}

}  // namespace
}  // namespace fovea::text
