#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fovea/version.hpp"
#include "support/files.hpp"

namespace fovea {
namespace {

using test::run_cli;
using test::TemporaryFolder;
using testing::HasSubstr;
using testing::StartsWith;

TEST(EvaluateCommand, PrintsTheFigureFirstThenTheSignature) {
  const TemporaryFolder folder;
  const auto h = folder.write("h", "The dog bit the man.\nIt wasn't surprising.\nThe man had just bitten him.\n");
  const auto r1 = folder.write_gz("r1.gz", "The dog bit the man.\nIt was not unexpected.\nThe man bit him first.\n");
  const auto r2 =
      folder.write("r2", "The dog had bit the man.\r\nNo one was surprised.\r\nThe man had bitten the dog.");
  const auto ran = run_cli({"evaluate", "--hypothesis", h, "--reference", r1, "--reference", r2, "--metric", "bleu"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "48.53\tBLEU|nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:2-fovea-" +
                         std::string(fovea::version()) +
                         "\t"
                         "82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)\n");
}

TEST(EvaluateCommand, KnowsEachMetric) {
  const TemporaryFolder folder;
  const auto h = folder.write("h", "a b c d e\n\n看小猫\n");
  const auto r = folder.write("r", "a b c d f\n\n看小狗\n");
  const auto out = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"evaluate", "--hypothesis", h, "--reference", r, "--metric"});
    const auto ran = run_cli(more);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.out;
  };
  EXPECT_THAT(out({"chrf"}), HasSubstr("\tchrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:"));
  EXPECT_THAT(out({"chrf++", "--lowercase"}), HasSubstr("\tchrF2++|nrefs:1|case:lc|"));
  EXPECT_THAT(out({"ter"}), StartsWith("33.33\tTER|nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:"));
  EXPECT_EQ(out({"accuracy"}), "33.33\taccuracy\n");
  EXPECT_EQ(out({"wer"}), "33.33\tWER\t(2 errors, 6 reference words)\n");
  EXPECT_EQ(out({"wer", "--tokenize", "char"}), "25.00\tWER\t(2 errors, 8 reference words)\n");
  EXPECT_THAT(out({"rouge"}), StartsWith("26.67\tROUGE-1\t(precision = 26.67 recall = 26.67)\n25.00\tROUGE-2\t"));
  EXPECT_THAT(out({"bleu", "--tokenize", "zh", "--smoothing", "floor"}), HasSubstr("|tok:zh|smooth:floor[0.10]|"));
}

TEST(EvaluateCommand, AWordWithTwoPronunciationsIsRightWithEither) {
  const TemporaryFolder folder;
  const auto h = folder.write("h", "T AH M EY T OW\nK AE T\n");
  const auto r1 = folder.write("r1", "T AH M AA T OW\nK AH T\n");
  const auto r2 = folder.write("r2", "T AH M EY T OW\nK AH T\n");
  const auto ran = run_cli(
      {"evaluate", "--hypothesis", h, "--reference", r1, "--reference", r2, "--metric", "wer", "--metric", "accuracy"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "11.11\tWER\t(1 errors, 9 reference words)\n50.00\taccuracy\n");
}

TEST(EvaluateCommand, PrintsJsonAnObjectForOneFigureAnArrayForMore) {
  const TemporaryFolder folder;
  const auto h = folder.write("h", "a b c d\n");
  const auto one = run_cli({"evaluate", "--hypothesis", h, "--reference", h, "--json"});
  const auto object = nlohmann::json::parse(one.out);
  EXPECT_EQ(object["name"], "BLEU");
  EXPECT_EQ(object["score"], 100.0);
  EXPECT_EQ(object["tok"], "13a");
  EXPECT_EQ(object["nrefs"], "1");
  const auto two =
      run_cli({"evaluate", "--hypothesis", h, "--reference", h, "--json", "--metric", "bleu", "--metric", "rouge"});
  EXPECT_EQ(nlohmann::json::parse(two.out).size(), 4);
}

TEST(EvaluateCommand, UnequalLineCountsNameBothFilesAndCounts) {
  const TemporaryFolder folder;
  const auto h = folder.write("h", "a\nb\n");
  const auto r = folder.write("r", "a\nb\nc");
  const auto ran = run_cli({"evaluate", "--hypothesis", h, "--reference", r});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr(h + " has 2 lines but " + r + " has 3"));
}

TEST(EvaluateCommand, BrokenFilesAreErrorsThatNameTheFileAndTheLine) {
  const TemporaryFolder folder;
  const auto good = folder.write("good", "a\nb\n");
  const auto latin = folder.write("latin", "a\nb\xE9\n");
  const auto empty = folder.write("empty", "");
  const auto err = [&](const std::string& h, const std::string& r) {
    const auto ran = run_cli({"evaluate", "--hypothesis", h, "--reference", r});
    EXPECT_EQ(ran.code, 1);
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1);
    return ran.err;
  };
  EXPECT_THAT(err(latin, good), HasSubstr(latin + ":2: not UTF-8 at byte 2"));
  EXPECT_THAT(err(folder.path("none"), good), HasSubstr("none: cannot be opened: No such file"));
  EXPECT_THAT(err(good, folder.path()), HasSubstr("cannot be read: Is a directory"));
  EXPECT_THAT(err(empty, empty), HasSubstr("hold no lines"));
}

TEST(EvaluateCommand, WrongUsageEndsWith2) {
  const TemporaryFolder folder;
  const auto h = folder.write("h", "a\n");
  EXPECT_EQ(run_cli({"evaluate", "--hypothesis", h}).code, 2);
  EXPECT_EQ(run_cli({"evaluate", "--hypothesis", h, "--reference", h, "--metric", "meteor"}).code, 2);
  EXPECT_EQ(run_cli({"evaluate", "--hypothesis", h, "--reference", h, "--tokenize", "ja"}).code, 2);
}

}  // namespace
}  // namespace fovea
