#include "text/hold_out.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "fovea/error.hpp"

namespace fovea::text {
namespace {

using testing::ElementsAre;

ParallelText numbered(int lines, int repeats = 1) {
  ParallelText text{"s", "t", {}, {}};
  for (int i = 0; i < lines; ++i) {
    text.source.push_back("line " + std::to_string(i / repeats));
    text.target.push_back("answer " + std::to_string(i));
  }
  return text;
}

TEST(HoldOut, TakesOneInTwentyAtMostAThousandAndLeavesTheRestInOrder) {
  for (const auto& [lines, wanted] : {std::pair{2, 1}, {40, 2}, {400, 20}, {30000, 1000}}) {
    ParallelText text = numbered(lines);
    const ParallelText all = text;
    const ParallelText held = hold_out(text, 1);
    EXPECT_EQ(held.source.size(), wanted) << lines;
    EXPECT_EQ(text.source.size(), lines - wanted);
    for (const ParallelText* part : {&held, &std::as_const(text)}) {
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(part->source.size()); ++i) {
        const auto at = static_cast<std::size_t>(i);
        const auto from = static_cast<std::size_t>(part->number(i) - 1);
        ASSERT_EQ(part->source[at], all.source[from]);
        ASSERT_EQ(part->target[at], all.target[from]);
        if (i > 0) {
          ASSERT_LT(part->number(i - 1), part->number(i));
        }
      }
    }
  }
}

TEST(HoldOut, NoSourceIsOnBothSides) {
  ParallelText text = numbered(600, 3);
  const ParallelText held = hold_out(text, 1);
  EXPECT_EQ(held.source.size(), 30);
  const std::set<std::string> trained(text.source.begin(), text.source.end());
  for (const std::string& line : held.source) EXPECT_FALSE(trained.contains(line)) << line;
}

TEST(HoldOut, TheSeedDecidesWhich) {
  ParallelText a = numbered(400), b = numbered(400), c = numbered(400);
  const auto first = hold_out(a, 1).source;
  EXPECT_EQ(first, hold_out(b, 1).source);
  EXPECT_NE(first, hold_out(c, 2).source);
}

TEST(HoldOut, ALineThatFillsMostOfTheTextIsTrainedOn) {
  ParallelText text{"s", "t", std::vector<std::string>(20, "same"), std::vector<std::string>(20, "x")};
  EXPECT_THROW((void)hold_out(text, 1), UsageError);
  text.source[7] = "other";
  EXPECT_THAT(hold_out(text, 1).source, ElementsAre("other"));
  EXPECT_EQ(text.source.size(), 19);
}

TEST(HoldOut, BlankLinesAreNotValidatedOn) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    ParallelText text{"s", "t", {"", "a", " ", "b"}, {"1", "2", "3", "4"}};
    const auto held = hold_out(text, seed).source;
    ASSERT_EQ(held.size(), 1);
    EXPECT_NE(held[0].find_first_not_of(' '), std::string::npos);
  }
}

}  // namespace
}  // namespace fovea::text
