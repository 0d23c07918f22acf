#include <gmock/gmock.h>

#include "support/files.hpp"
#include "support/markup.hpp"

namespace fovea {
namespace {

using test::run_cli;
using test::TemporaryFolder;
using testing::HasSubstr;

TEST(ChartCommand, DrawsTheColumnsOfATable) {
  const TemporaryFolder folder;
  const auto csv = folder.write("a.csv", "d,dot,\"scaled, dot\"\n4,0.1,0.2\n16,0.01,\n64,1e-4,0.19\n");
  const auto ran = run_cli({"chart", csv, "--svg", folder.path("a.svg"), "--log-x", "--log-y", "--title", "Gradient"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out + ran.err, "");
  const std::string svg = folder.read("a.svg");
  EXPECT_EQ(test::malformed(svg), "");
  EXPECT_EQ(test::count(svg, "class=\"line"), 2U);
  EXPECT_THAT(svg, HasSubstr("Gradient"));
  EXPECT_THAT(svg, HasSubstr(">scaled, dot<"));
}

TEST(ChartCommand, DrawsATrainingsLogAChartForEachY) {
  const TemporaryFolder folder;
  const auto log =
      folder.write("log.jsonl",
                   "{\"step\":50,\"loss\":3.5,\"rate\":1e-3}\n{\"step\":100,\"valid_loss\":3.2,\"best\":true}\n"
                   "{\"step\":100,\"loss\":3.1,\"rate\":2e-3}\n");
  const auto ran =
      run_cli({"chart", log, "--svg", folder.path("a.svg"), "--x", "step", "--y", "loss,valid_loss", "--y", "rate"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const std::string svg = folder.read("a.svg");
  EXPECT_EQ(test::malformed(svg), "");
  EXPECT_EQ(test::count(svg, "class=\"line"), 3U);
  EXPECT_EQ(test::count(svg, "class=\"h\""), 2U);
}

TEST(ChartCommand, DrawsBarsForNames) {
  const TemporaryFolder folder;
  const auto csv = folder.write("a.csv", "score,BLEU\ndot,30\ngeneral,33.25\n");
  EXPECT_EQ(run_cli({"chart", csv, "--svg", folder.path("a.svg")}).code, 0);
  const std::string svg = folder.read("a.svg");
  EXPECT_EQ(test::malformed(svg), "");
  EXPECT_EQ(test::count(svg, "<rect class=\"dot"), 2U);
  EXPECT_THAT(svg, HasSubstr(">33.25<"));
}

TEST(ChartCommand, WrongTablesAndColumnsAreOneLine) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& text, std::vector<std::string> more, int code) {
    more.insert(more.begin(), {"chart", folder.write("a.csv", text), "--svg", folder.path("a.svg")});
    const auto ran = run_cli(more);
    EXPECT_EQ(ran.code, code);
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1);
    EXPECT_FALSE(std::filesystem::exists(folder.path("a.svg")));
    return ran.err;
  };
  EXPECT_THAT(error("a,b\n1,2,3\n", {}, 1), HasSubstr("a.csv:2: 3 cells, but the header has 2"));
  EXPECT_THAT(error("a,b\n1,\"2\n", {}, 1), HasSubstr("a.csv:2: a quote is not closed"));
  EXPECT_THAT(error("a,b\n", {}, 1), HasSubstr("no rows"));
  EXPECT_THAT(error("{\"a\":1}\n[2]\n", {}, 1), HasSubstr("a.csv:2: not a JSON object"));
  EXPECT_THAT(error("a,b\n1,2\n", {"--y", "c"}, 2), HasSubstr("no column \"c\"; the columns are a, b"));
  EXPECT_THAT(error("a,b\n1,x\n", {}, 2), HasSubstr("no column of numbers"));
  EXPECT_THAT(error("a,b\n1,x\n", {"--y", "b"}, 2), HasSubstr("row 1 is \"x\", not a number"));
  EXPECT_THAT(error("a,b\n1,0\n2,-3\n", {"--log-y"}, 2), HasSubstr("--log-y: "));
  EXPECT_THAT(error("a,b\n0,1\n", {"--log-x"}, 2), HasSubstr("b has no value above 0"));
  EXPECT_EQ(run_cli({"chart"}).code, 2);
}

}  // namespace
}  // namespace fovea
