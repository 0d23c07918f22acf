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

TEST(EvaluateCommand, StemsWordsOfRougeWhenAsked) {
  const TemporaryFolder folder;
  const auto h = folder.write("h", "dogs running\n");
  const auto r = folder.write("r", "dogs runs\n");
  EXPECT_THAT(run_cli({"evaluate", "--hypothesis", h, "--reference", r, "--metric", "rouge"}).out, StartsWith("50.00"));
  EXPECT_THAT(run_cli({"evaluate", "--hypothesis", h, "--reference", r, "--metric", "rouge", "--stem"}).out,
              StartsWith("100.00"));
}

TEST(EvaluateCommand, ClassificationPrintsFiguresATableAndWhatIsMissing) {
  const TemporaryFolder folder;
  const auto h = folder.write("h", "cat\ncat\ncat\ndog\ncow\n");
  const auto r = folder.write("r", "cat\ncat\ndog\ndog\nowl\n");
  const std::vector<std::string> arguments{"evaluate",          "--hypothesis",   h,         "--reference", r,
                                           "--metric",          "classification", "--width", "1",           "--svg",
                                           folder.path("c.svg")};
  const auto ran = run_cli(arguments);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "60.0\taccuracy\t(3 of 5 lines)\n"
            "36.7\tmacro F1\t(precision = 41.7 recall = 37.5)\n"
            "58.7\tweighted F1\t(precision = 66.7 recall = 60.0)\n"
            "\n"
            "label             precision  recall      F1  support  predicted\n"
            "cat                    66.7   100.0    80.0        2          3\n"
            "cow                     0.0     0.0     0.0        0          1\n"
            "dog                   100.0    50.0    66.7        2          1\n"
            "owl                     0.0     0.0     0.0        1          0\n"
            "macro average          41.7    37.5    36.7        5          5\n"
            "weighted average       66.7    60.0    58.7        5          5\n"
            "\n"
            "confusion matrix (a row per reference label, a column per hypothesis label)\n"
            "       cat  cow  dog  owl\n"
            "  cat    2    0    0    0\n"
            "  cow    0    0    0    0\n"
            "  dog    1    0    1    0\n"
            "  owl    0    1    0    0\n"
            "\n"
            "never predicted: owl\n"
            "predicted but not in the references: cow\n");
  const std::string svg = folder.read("c.svg");
  EXPECT_THAT(svg, StartsWith("<svg "));
  EXPECT_THAT(svg, HasSubstr("<title>reference dog, hypothesis cat: 1 of 2 lines (50.0%)</title>"));
}

TEST(EvaluateCommand, ClassificationAsJsonHasLabelsAndConfusion) {
  const TemporaryFolder folder;
  const auto h = folder.write("h", "cat\nCAT\n");
  const auto r = folder.write("r", "cat\ndog\n");
  const auto ran =
      run_cli({"evaluate", "--hypothesis", h, "--reference", r, "--metric", "classification", "--lowercase", "--json"});
  const auto all = nlohmann::json::parse(ran.out);
  ASSERT_EQ(all.size(), 3);
  EXPECT_EQ(all[0]["score"], 50.0);
  EXPECT_EQ(all[0]["labels"][0]["label"], "cat");
  EXPECT_EQ(all[0]["labels"][0]["predicted"], 2);
  EXPECT_EQ(all[0]["confusion"][1], nlohmann::json::parse(R"({"reference": "dog", "hypothesis": "cat", "count": 1})"));
  EXPECT_EQ(all[0]["never_predicted"], nlohmann::json::array({"dog"}));
}

TEST(EvaluateCommand, AnEmptyLabelIsAnErrorThatNamesFileAndLineAndWritesNothing) {
  const TemporaryFolder folder;
  const auto h = folder.write("h", "cat\n\ndog\n");
  const auto r = folder.write("r", "cat\ndog\ndog\n");
  const auto ran = run_cli(
      {"evaluate", "--hypothesis", h, "--reference", r, "--metric", "classification", "--svg", folder.path("c.svg")});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr(h + ":2: is empty"));
  EXPECT_EQ(folder.read("c.svg"), "");
}

TEST(EvaluateCommand, CaptionTakesReferencesFromFilesOrBetweenTabs) {
  const TemporaryFolder folder;
  const auto h = folder.write("h", "a red dog\ntwo men in a car\n");
  const auto r1 = folder.write("r1", "A dog.\nMen in a car.\n");
  const auto r2 = folder.write("r2", "A red dog runs.\n\n");
  const auto both = folder.write("both", "A dog.\tA red dog runs.\nMen in a car.\n");
  const auto files =
      run_cli({"evaluate", "--hypothesis", h, "--reference", r1, "--reference", r2, "--metric", "caption"});
  const auto tabs = run_cli({"evaluate", "--hypothesis", h, "--reference", both, "--metric", "caption"});
  EXPECT_EQ(files.code, 0) << files.err;
  EXPECT_EQ(files.out, tabs.out);
  EXPECT_THAT(files.out, StartsWith("87.50\tBLEU-1\n"));  // 7 of 8 words; 8 words against 2 + 4
  EXPECT_THAT(files.out, HasSubstr("\tBLEU-4\n"));
  EXPECT_THAT(files.out, HasSubstr("\tROUGE-L\n"));
  EXPECT_THAT(files.out, HasSubstr("\tCIDEr-D\n"));
}

TEST(EvaluateCommand, ChatPrintsBaselinesPerplexityAndSharedContexts) {
  const TemporaryFolder folder;
  const auto h = folder.write("h", "I am fine\nno\n");
  const auto r = folder.write("r", "I am well\nyes\n");
  const auto train = folder.write("train", "yes\nyes\nno way\n");
  const auto contexts = folder.write("contexts", "how are you\nok?\n");
  const auto train_contexts = folder.write("train_contexts", "ok?\nwho\nwhat\n");
  const auto scores = folder.write("scores", "-4.0\n-2.0\n");
  const auto counts = folder.write("counts", "1\n2\n");
  std::vector<std::string> arguments{
      "evaluate", "--hypothesis",        h,      "--reference", r,        "--metric",         "chat",        "--train",
      train,      "--log-probabilities", scores, "--contexts",  contexts, "--train-contexts", train_contexts};
  const auto ran = run_cli(arguments);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("33.33\tF1\n100.00\tdistinct-1\n100.00\tdistinct-2\n"));
  EXPECT_THAT(ran.out, HasSubstr("\tBLEU|nrefs:1|"));
  EXPECT_THAT(ran.out, HasSubstr("2.72\tperplexity\t(6 words of the first reference and ends of lines)\n"));
  EXPECT_THAT(ran.out, HasSubstr("50.00\tF1 of the most frequent training reply\t(\"yes\", 2 of 3 lines)\n"));
  EXPECT_THAT(ran.out, HasSubstr("\tF1 of random training replies\t(seed 1)\n"));
  EXPECT_THAT(ran.out, HasSubstr("50.00\tcontexts also in training\t(1 of 2 lines)\n"));
  arguments.insert(arguments.end(), {"--token-counts", counts});
  EXPECT_THAT(run_cli(arguments).out, HasSubstr("7.39\tperplexity\t(3 tokens of " + counts + ")\n"));
}

TEST(EvaluateCommand, ChatChecksItsNumbers) {
  const TemporaryFolder folder;
  const auto h = folder.write("h", "a\nb\n");
  const auto err = [&](const std::string& option, const std::string& lines, int code) {
    const auto file = folder.write("numbers", lines);
    const auto good = folder.write("good", "-1\n-1\n");
    std::vector<std::string> arguments{"evaluate", "--hypothesis", h,      "--reference", h,
                                       "--metric", "chat",         option, file};
    if (option == "--token-counts") arguments.insert(arguments.end(), {"--log-probabilities", good});
    const auto ran = run_cli(arguments);
    EXPECT_EQ(ran.code, code);
    return ran.err;
  };
  EXPECT_THAT(err("--log-probabilities", "-1\n0.5\n", 1), HasSubstr("numbers:2: '0.5' is not a log-probability"));
  EXPECT_THAT(err("--log-probabilities", "-1\nnan\n", 1), HasSubstr("numbers:2: 'nan' is not a log-probability"));
  EXPECT_THAT(err("--log-probabilities", "-1 x\n-1\n", 1), HasSubstr("numbers:1: '-1 x' is not"));
  EXPECT_THAT(err("--log-probabilities", "-1\n", 1), HasSubstr("has 2 lines but"));
  EXPECT_THAT(err("--token-counts", "1\n0\n", 1), HasSubstr("numbers:2: '0' is not a token count"));
  EXPECT_THAT(err("--train", "", 1), HasSubstr("holds no replies"));
  EXPECT_THAT(err("--contexts", "a\nb\n", 2), HasSubstr("give both"));
}

TEST(EvaluateCommand, OptionsOfAnotherMetricAreWrongUsage) {
  const TemporaryFolder folder;
  const auto h = folder.write("h", "a\n");
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--stem"}, {"--svg", folder.path("x.svg")}, {"--train", h}}) {
    std::vector<std::string> arguments{"evaluate", "--hypothesis", h, "--reference", h};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto ran = run_cli(arguments);
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, HasSubstr(more[0] + " is for --metric "));
  }
  EXPECT_EQ(
      run_cli({"evaluate", "--hypothesis", h, "--reference", h, "--reference", h, "--metric", "classification"}).code,
      2);
}

}  // namespace
}  // namespace fovea
