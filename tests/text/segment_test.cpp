#include "text/segment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <thread>

namespace fovea::text {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Segment, FindsWordsWhereNoSpacesAre) {
  EXPECT_THAT(segment("看小猫，它好可爱"), ElementsAre("看", "小猫", "，", "它", "好", "可爱"));
  EXPECT_THAT(segment("注意力机制模仿了生物观察行为"),
              ElementsAre("注意力", "机制", "模仿", "了", "生物", "观察", "行为"));
  EXPECT_THAT(segment("猫が好きです。"), ElementsAre("猫", "が", "好き", "です", "。"));
  EXPECT_THAT(segment("สวัสดีครับ"), ElementsAre("สวัสดี", "ครับ"));
  EXPECT_THAT(segment("我用iPhone拍照 2021年3月3日"),
              ElementsAre("我", "用", "iPhone", "拍照", "2021", "年", "3", "月", "3", "日"));
}

TEST(Segment, KeepsNumbersAbbreviationsAndCompoundsWholeAndTakesMarksOff) {
  EXPECT_THAT(segment("The U.S. pays $3.14, isn't it?"),
              ElementsAre("The", "U.S.", "pays", "$", "3.14", ",", "isn't", "it", "?"));
  EXPECT_THAT(segment("a well-known F-16 (e.g. here)."),
              ElementsAre("a", "well-known", "F-16", "(", "e.g.", "here", ")", "."));
  EXPECT_THAT(segment("It ends. x - y -z 猫-狗"),
              ElementsAre("It", "ends", ".", "x", "-", "y", "-", "z", "猫", "-", "狗"));
  EXPECT_THAT(segment("한국어 단어, Ünïcödé"), ElementsAre("한국어", "단어", ",", "Ünïcödé"));
}

TEST(Segment, LeavesOutNothingButWhiteSpace) {
  EXPECT_THAT(segment(""), IsEmpty());
  EXPECT_THAT(segment(std::string_view()), IsEmpty());
  EXPECT_THAT(segment(" \t\u3000\u00A0\r\n"), IsEmpty());
  EXPECT_THAT(segment("\u00A0\u0301a"), ElementsAre("\u0301", "a"));  // an accent on a space
  EXPECT_THAT(segment("a\xFF猫"), ElementsAre("a", "\xFF", "猫"));
}

TEST(CutUnspaced, CutsOnlyWhereAScriptHasNoSpaces) {
  EXPECT_THAT(cut_unspaced("U.S.,"), ElementsAre("U.S.,"));
  EXPECT_THAT(cut_unspaced("well-known?"), ElementsAre("well-known?"));
  EXPECT_THAT(cut_unspaced("“我用C++写！”"), ElementsAre("“", "我", "用", "C++", "写", "！", "”"));
  EXPECT_THAT(cut_unspaced("3月3日"), ElementsAre("3", "月", "3", "日"));
  EXPECT_THAT(cut_unspaced("２０２１年"), ElementsAre("２０２１", "年"));
  EXPECT_THAT(cut_unspaced("អ្នកណាជាអ្នក"), ElementsAre("អ្នកណា", "ជា", "អ្នក"));
  EXPECT_THAT(cut_unspaced("မြန်မာဘာသာစကား"), ElementsAre("မြန်မာဘာသာ", "စကား"));
  EXPECT_THAT(cut_unspaced("한국어입니다"), ElementsAre("한국어입니다"));
}

TEST(CutUnspaced, PartsTouchAndMakeTheWordWhateverTheBytes) {
  std::mt19937 random(7);
  const std::vector<std::string> bits{"猫",     "可爱",     "好",   "a",      "3", ".",      "-",     "，",
                                      "\u0301", "\uFE00",   "ไทย",  "\u200D", "🐱", "カ",     "ー",    "_",
                                      "\xFF",   "\xE7\x8C", "\x80", "\xF0",   "▁", "\u3099", "\u2581"};
  for (int trial = 0; trial < 3000; ++trial) {
    std::string word;
    for (std::uint32_t n = 1 + random() % 12; n > 0; --n) word += bits[random() % bits.size()];
    std::string all;
    std::string_view last;
    for (const std::string_view part : cut_unspaced(word)) {
      ASSERT_FALSE(part.empty());
      ASSERT_TRUE(last.empty() || written_together(last, part)) << word;
      all += part;
      last = part;
    }
    ASSERT_EQ(all, word);
    all.clear();
    for (const std::string_view part : segment(word)) all += part;
    ASSERT_EQ(all, word);
  }
}

TEST(CutUnspaced, TakesVeryLongLines) {
  std::string line;
  for (int i = 0; i < 50000; ++i) line += "小猫可爱";
  EXPECT_EQ(cut_unspaced(line).size(), 100000U);
  EXPECT_EQ(segment(line).size(), 100000U);
  EXPECT_EQ(segment(std::string(1 << 20, '.')).size(), std::size_t{1} << 20);
}

TEST(Segment, SeveralThreadsAtOnceGetTheSameWords) {
  std::vector<std::thread> threads;
  std::vector<int> right(4, 0);
  for (int& mine : right) {
    threads.emplace_back([&mine] {
      for (int i = 0; i < 200; ++i) mine += segment("看小猫，它好可爱").size() == 6 ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(right, testing::Each(200));
}

}  // namespace
}  // namespace fovea::text
