#include "view/svg/svg.hpp"

#include <gmock/gmock.h>

#include "support/markup.hpp"
#include "view/page/page.hpp"

namespace fovea::view {
namespace {

using testing::HasSubstr;
using testing::Not;

AttentionRecord nasty() {
  AttentionRecord p;
  p.title = "a < b & \"c\"";
  p.source = {"<script>alert(1)</script>", "小猫", "\x01\xff", ""};
  p.target = {"'\"><b onload=\"x\">", "]]>"};
  p.weights = {2, 4, {0.5F, 0.25F, 0.25F, 0, 0, 1, 0, 0}};
  return p;
}

TEST(MarkupChecker, FindsWhatIsWrong) {
  EXPECT_EQ(test::malformed("<a b=\"c\"><d/>x &lt; y</a>\n"), "");
  for (const char* bad : {"", "<a>", "<a></b>", "<a>x & y</a>", "<a b=c/>", "<a b=\"1\" b=\"2\"/>", "<a/><b/>",
                          "<a>\x01</a>", "<a b=\"<\"/>", "<a", "<a/>x"}) {
    EXPECT_NE(test::malformed(bad), "") << bad;
  }
}

TEST(Svg, CallsPiecesAndTheEndAsTheAxesDoInTooltipsToo) {
  AttentionRecord p;
  p.source = {"▁ver", "st", "</s>"};
  p.target = {"▁a", "</s>"};
  p.weights = {2, 3, {0.5F, 0.25F, 0.25F, 0, 0.5F, 0.5F}};
  for (const SvgPiece& piece : {svg_heat_map(p, p.weights), svg_ribbon(p, p.weights)}) {
    EXPECT_THAT(piece.body, HasSubstr("<title>a ← ·st: 0.2500</title>"));
    EXPECT_THAT(piece.body, HasSubstr("<title>‹end› ← ‹end›: 0.5000</title>"));
    EXPECT_THAT(piece.body, Not(HasSubstr("▁")));
  }
}

TEST(Svg, IsWellFormedWhateverTheTokensAre) {
  const AttentionRecord p = nasty();
  for (const SvgPiece& piece : {svg_heat_map(p, p.weights), svg_ribbon(p, p.weights)}) {
    const std::string svg = svg_document({piece, piece}, "t < u", "d & e");
    EXPECT_EQ(test::malformed(svg), "");
    EXPECT_THAT(svg, Not(HasSubstr("<script")));
    EXPECT_THAT(svg, Not(HasSubstr("<b ")));
  }
}

TEST(Svg, SaysWhatItShows) {
  const AttentionRecord p = nasty();
  const std::string svg = svg_document({svg_heat_map(p, p.weights)}, "Attention: run.jsonl", "What looked where");
  EXPECT_THAT(svg, HasSubstr("role=\"img\""));
  EXPECT_THAT(svg, HasSubstr("<title>Attention: run.jsonl</title>\n<desc>What looked where</desc>"));
  EXPECT_THAT(svg, HasSubstr("<title>]]&gt; ← 小猫: 1.0000</title>"));
  EXPECT_THAT(svg, HasSubstr("Noto Sans CJK"));
  EXPECT_EQ(test::count(svg, "<title>"), 1U + 8U);
}

TEST(Svg, LongInputsStaySmallAndLegible) {
  AttentionRecord p;
  constexpr std::int64_t kTokens = 300;
  for (std::int64_t i = 0; i < kTokens; ++i) {
    p.source.push_back("word" + std::to_string(i));
    p.target.push_back("token" + std::to_string(i));
  }
  p.weights = {kTokens, kTokens, std::vector<float>(kTokens * kTokens, 0.0F)};
  for (std::int64_t i = 0; i < kTokens; ++i) p.weights.values[static_cast<std::size_t>(i * kTokens + i)] = 1;
  const SvgPiece piece = svg_heat_map(p, p.weights);
  EXPECT_EQ(test::count(piece.body, "class=\"w40\""), kTokens + 1U);  // and one in the legend
  EXPECT_LT(piece.body.size(), 200U * 1024);
  EXPECT_GT(piece.width, kTokens * 9);
}

TEST(Svg, AnEmptySentenceIsStillAPicture) {
  const AttentionRecord p;
  for (const SvgPiece& piece : {svg_heat_map(p, p.weights), svg_ribbon(p, p.weights)}) {
    EXPECT_EQ(test::malformed(svg_document({piece}, "", "")), "");
    EXPECT_THAT(piece.body, HasSubstr("empty"));
  }
}

}  // namespace
}  // namespace fovea::view
