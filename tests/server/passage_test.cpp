// Splitting text and HTML into lines for a model.
#include <gmock/gmock.h>

#include "server/api/texts/html.hpp"
#include "server/api/texts/passage.hpp"

namespace fovea::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string shouted(const Passage& passage) {
  std::vector<std::string> outputs;
  for (const auto& line : passage.lines()) outputs.push_back("[" + line + "]");
  return passage.with([&](std::size_t i) -> const std::string& { return outputs[i]; });
}

TEST(Passage, KeepsWhiteSpaceAndLineEnds) {
  EXPECT_EQ(shouted(Passage::of_text("  One. Two!\r\n\n\tThree", 100)), "  [One.] [Two!]\r\n\n\t[Three]");
  EXPECT_EQ(shouted(Passage::of_text(" \n ", 100)), " \n ");
  EXPECT_THAT(Passage::of_text("", 100).lines(), IsEmpty());
}

TEST(Passage, SplitsAShortLineWithTooManyTokens) {
  const auto three_words = [](std::string_view line) { return std::count(line.begin(), line.end(), ' ') < 3; };
  const LineLimit limit(100, three_words);
  EXPECT_EQ(shouted(Passage::of_text("a b c. d e f g h", limit)), "[a b c.] [d e f] [g h]");
  const LineLimit nothing(100, [](std::string_view) { return false; });
  EXPECT_EQ(shouted(Passage::of_text("ab", nothing)), "[a] [b]") << "a line has at least a character";
}

TEST(Passage, AddsSpacesForTheScriptOfTheOutput) {
  const Passage passage = Passage::of_text("你好。再见。", 100);
  EXPECT_THAT(passage.lines(), ElementsAre("你好。", "再见。"));
  const std::vector<std::string> english{"Hello.", "Bye."};
  EXPECT_EQ(passage.with([&](std::size_t i) -> const std::string& { return english[i]; }), "Hello. Bye.");
  const Passage back = Passage::of_text("Hello. Bye.", 100);
  const std::vector<std::string> chinese{"你好。", "再见。"};
  EXPECT_EQ(back.with([&](std::size_t i) -> const std::string& { return chinese[i]; }), "你好。再见。");
}

TEST(Passage, OfHtmlKeepsTagsByteForByte) {
  EXPECT_EQ(shouted(Passage::of_html("<p  CLASS='a>b'>One <b>two</b></p>", 100)),
            "<p  CLASS='a>b'>[One] <b>[two]</b></p>");
  EXPECT_EQ(shouted(Passage::of_html("<!-- One --><style>a{b:c}</style><br/>x", 100)),
            "<!-- One --><style>a{b:c}</style><br/>[x]");
  EXPECT_EQ(shouted(Passage::of_html("<script>if (a < b) f('</p>')</SCRIPT>x", 100)),
            "<script>if (a < b) f('</p>')</SCRIPT>[x]");
  EXPECT_EQ(shouted(Passage::of_html("<span translate=\"no\">Fovea <span>is</span> it</span> x", 100)),
            "<span translate=\"no\">Fovea <span>is</span> it</span> [x]");
}

TEST(Passage, OfHtmlDecodesEntitiesForTheModelAndEncodesItsOutput) {
  const Passage passage = Passage::of_html("Q&amp;A &lt;3 &#233;&#xE9;&nbsp;&unknown; &", 100);
  EXPECT_THAT(passage.lines(), ElementsAre("Q&A <3 éé\u00A0&unknown; &"));
  const std::string output = "<b> & é\u00A0!";
  EXPECT_EQ(passage.with([&](std::size_t) -> const std::string& { return output; }), "&lt;b&gt; &amp; é&nbsp;!");
}

TEST(Passage, OfHtmlDistinguishesTagsFromText) {
  EXPECT_EQ(shouted(Passage::of_html("<code>a < b</code> x<p>y", 100)), "<code>a < b</code> [x]<p>[y]");
  EXPECT_EQ(shouted(Passage::of_html("<pre>x<<2 <!-- it=\"s --></pre> y", 100)), "<pre>x<<2 <!-- it=\"s --></pre> [y]");
  EXPECT_EQ(shouted(Passage::of_html("<textarea><b></textarea>x", 100)), "<textarea><b></textarea>[x]");
  EXPECT_EQ(shouted(Passage::of_html("<a title= \"x > y\">z</a>", 100)), "<a title= \"x > y\">[z]</a>");
}

TEST(Passage, OfHtmlReadsALineBreakAsASpace) {
  const Passage passage = Passage::of_html("<p>\n  3 March\r\n2021\n</p>", 100);
  EXPECT_THAT(passage.lines(), ElementsAre("3 March  2021"));
  EXPECT_EQ(shouted(passage), "<p>\n  [3 March  2021]\n</p>");
  EXPECT_THAT(Passage::of_html("M&auml;dchen im Caf&eacute; &bull; &szlig;", 100).lines(),
              ElementsAre("Mädchen im Café • ß"));
}

TEST(Passage, OfMegabytesTakesLinearTime) {
  for (const std::string unit :
       {"a", "。", "< ", "<a ", ". ", "é", "<b>", "<script> < ", "\n", "&amp", "A. B", "<pre <", "..."}) {
    std::string text;
    while (text.size() < 1000000) text += unit;
    for (const Passage& passage : {Passage::of_html(text, 400), Passage::of_text(text, 400)}) {
      for (const auto& line : passage.lines()) ASSERT_LE(line.size(), 4 * 401U) << unit;
    }
  }
}

TEST(Passage, OfInvalidHtmlLosesNothing) {
  for (const char* html :
       {"<", "<a", "a < b", "<p", "</", "<!--", "<script>", "<b>x</i>", "&#xZZ; &#99999999;", "<a b=\"c>d"}) {
    std::string all;
    for (const HtmlPart& part : html_parts(html)) all += part.bytes;
    EXPECT_EQ(all, html);
  }
}

}  // namespace
}  // namespace fovea::server
