#include "view/terminal/terminal.hpp"

#include <gmock/gmock.h>

#include <regex>
#include <sstream>

#include "view/text.hpp"

namespace fovea::view {
namespace {

AttentionRecord picture(std::vector<std::string> source, std::vector<std::string> target) {
  AttentionRecord p;
  p.source = std::move(source);
  p.target = std::move(target);
  p.weights.rows = static_cast<std::int64_t>(p.target.size());
  p.weights.columns = static_cast<std::int64_t>(p.source.size());
  for (std::int64_t t = 0; t < p.weights.rows; ++t) {
    for (std::int64_t s = 0; s < p.weights.columns; ++s)
      p.weights.values.push_back(s == t % p.weights.columns ? 1.0F : 0.0F);
  }
  return p;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::string without_colours(const std::string& text) {
  return std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), "");
}

TEST(TerminalHeatMap, IsExactlyThis) {
  const AttentionRecord p = picture({"看", "小猫", "it"}, {"look", "猫"});
  EXPECT_EQ(draw_heat_map(p, p.weights, {}),
            "      看  小猫 it\n"
            " look ███   ·   ·\n"
            "   猫  ·  ████  ·\n");
  EXPECT_EQ(draw_heat_map(p, p.weights, {.numbers = true}),
            "      看  小猫 it\n"
            " look 100\n"
            "   猫     100\n");
}

TEST(TerminalHeatMap, ColumnsAlignWithLabelsOfAnyWidth) {
  const AttentionRecord p = picture({"a", "小猫咪", "e\u0301te\u0301", "", "🐱", "a-very-long-token-indeed", "ｶ"},
                                    {"猫", "x", "한국", "long target token", "\x1b[31m", "\xff", "y"});
  for (const TerminalColour colour : {TerminalColour::truecolour, TerminalColour::palette256}) {
    const auto drawn = lines(draw_heat_map(p, p.weights, {.colour = colour, .width = 120}));
    ASSERT_EQ(drawn.size(), p.target.size() + 1);
    const std::string& head = drawn[0];
    int widest = 0;
    for (std::size_t t = 0; t < p.target.size(); ++t) {
      const std::string row = without_colours(drawn[t + 1]);
      EXPECT_EQ(columns(row), columns(without_colours(drawn[1]))) << row;  // coloured cells are never cut
      widest = std::max(widest, columns(row));
      // The cell with 100 begins where the label of its column begins.
      const std::string name = label(p.source[t], 16);
      EXPECT_EQ(columns(row.substr(0, row.rfind("100"))), columns(head.substr(0, head.find(name)))) << row;
    }
    EXPECT_LE(widest, 120);
  }
}

TEST(TerminalHeatMap, GoesOnBelowInsteadOfBeyondTheEdge) {
  const AttentionRecord p = picture(std::vector<std::string>(40, "word"), {"one", "two"});
  for (const int width : {20, 40, 79, 80, 200}) {
    const auto drawn = lines(draw_heat_map(p, p.weights, {.colour = TerminalColour::truecolour, .width = width}));
    std::size_t labels = 0;
    for (const std::string& line : drawn) {
      EXPECT_LE(columns(without_colours(line)), std::max(width, 22));
      for (std::size_t at = line.find("word"); at != line.npos; at = line.find("word", at + 1)) ++labels;
    }
    EXPECT_EQ(labels, 40U);
  }
}

TEST(TerminalHeatMap, PanelsAreEven) {
  const AttentionRecord p = picture(std::vector<std::string>(16, "wordy"), {"x"});  // 15 fit on a line
  const auto drawn = lines(draw_heat_map(p, p.weights, {.width = 93}));
  ASSERT_EQ(drawn.size(), 5U);  // two panels of two lines and a blank line between
  EXPECT_EQ(columns(drawn[0]), columns(drawn[3]));
}

TEST(TerminalHeatMap, WritesNoEscapeSequenceWithoutColour) {
  const AttentionRecord p = picture({"\x1b[2J", "b"}, {"\x1b]0;title\x07", "d"});
  EXPECT_THAT(draw_heat_map(p, p.weights, {}), testing::Not(testing::HasSubstr("\x1b")));
}

TEST(Painted, UsesWhatTheTerminalHas) {
  const Rgb teal{32, 167, 190};
  EXPECT_EQ(painted("x", teal, {.colour = TerminalColour::truecolour}), "\x1b[48;2;32;167;190;38;2;0;0;0mx\x1b[0m");
  EXPECT_EQ(painted("x", teal, {.colour = TerminalColour::palette256}), "\x1b[48;5;37;38;5;16mx\x1b[0m");
  EXPECT_EQ(painted("x", Rgb{29, 31, 37}, {.colour = TerminalColour::palette256}), "\x1b[48;5;234;38;5;231mx\x1b[0m");
  EXPECT_EQ(painted("x", teal, {}), "x");
}

}  // namespace
}  // namespace fovea::view
