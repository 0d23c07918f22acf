// A first training: few options, and what the command chooses and reports by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/small_training.hpp"

namespace fovea {
namespace {

using test::Ran;
using test::run_cli;
using testing::HasSubstr;
using testing::Not;

std::string gzipped(const test::TemporaryFolder& folder, const std::string& text) {
  folder.write_gz("packed.gz", text);
  return folder.read("packed.gz");
}

class FirstTraining : public test::SmallTraining {
 protected:
  // A training of two steps with nothing but text and what keeps it short.
  [[nodiscard]] std::vector<std::string> few(const std::string& model, std::vector<std::string> more) const {
    more.insert(more.begin(), {"train", "--model", file(model), "--max-steps", "2", "--tokenizer", "word"});
    return more;
  }
  // The data of a model's report.html.
  [[nodiscard]] nlohmann::json report(const std::string& model) const {
    const std::string page = folder_.read(model + "/report.html");
    const std::string begin = "id=\"report\">";
    const std::size_t at = page.find(begin) + begin.size();
    return nlohmann::json::parse(page.substr(at, page.find("</script>", at) - at));
  }
  static std::map<std::string, double> named(const nlohmann::json& figures) {
    std::map<std::string, double> out;
    for (const auto& one : figures) out[one["name"]] = one["value"];
    return out;
  }
  [[nodiscard]] std::map<std::string, std::string> settings(const std::string& model) const {
    const auto list = report(model).at("settings").get<std::vector<std::pair<std::string, std::string>>>();
    return {list.begin(), list.end()};
  }
  [[nodiscard]] std::string pairs_file(const std::string& name, const std::string& before = "",
                                       const std::string& behind = "") const {
    std::istringstream source(folder_.read("train.source")), target(folder_.read("train.target"));
    std::string lines, s, t;
    while (std::getline(source, s) && std::getline(target, t)) lines += before + s + "\t" + t + behind + "\n";
    return name.ends_with(".gz") ? folder_.write_gz(name, lines) : folder_.write(name, lines);
  }
};

TEST_F(FirstTraining, TwoFilesAreEnoughAndWhatIsHeldOutIsReported) {
  const Ran r = run_cli(few("m", {"--source", file("train.source"), "--target", file("train.target")}));
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("held out 3 of 60 lines to validate on, chosen by seed 1"));
  EXPECT_THAT(r.err, HasSubstr("training: 57 pairs"));
  EXPECT_THAT(r.err, HasSubstr("validation: 3 pairs"));
  // Each output shown is of a line that was held out, and another seed holds out others.
  const Ran other =
      run_cli(few("n", {"--source", file("train.source"), "--target", file("train.target"), "--seed", "5"}));
  ASSERT_EQ(other.code, 0) << other.err;
  const auto shown = [](const std::string& report) {
    std::set<std::string> lines;
    std::istringstream in(report);
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("    source")) lines.insert(line);
    }
    return lines;
  };
  EXPECT_FALSE(shown(r.err).empty());
  EXPECT_NE(shown(r.err), shown(other.err));
}

TEST_F(FirstTraining, TheSameLinesAreHeldOutWhenItGoesOn) {
  const std::vector<std::string> text{"--source", file("train.source"), "--target", file("train.target")};
  ASSERT_EQ(run_cli(few("whole", text)).code, 0);
  auto half = few("parts", text);
  half[4] = "1";
  ASSERT_EQ(run_cli(half).code, 0);
  auto rest = few("parts", text);
  rest.emplace_back("--resume");
  const Ran resumed = run_cli(rest);
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("continuing from step 1"));
}

TEST_F(FirstTraining, OneFileOfPairsGivesTheSameModelAsTwoFiles) {
  ASSERT_EQ(run_cli(few("two", {"--source", file("train.source"), "--target", file("train.target")})).code, 0);
  ASSERT_EQ(run_cli(few("one", {"--pairs", pairs_file("p.tsv")})).code, 0);
  EXPECT_EQ(weights("one"), weights("two"));
  const Ran chosen = run_cli(few("chosen", {"--pairs", pairs_file("q.tsv.gz", "17\t", "\tCC-BY"), "--columns", "2,3"}));
  ASSERT_EQ(chosen.code, 0) << chosen.err;
  EXPECT_EQ(weights("chosen"), weights("two"));
  const Ran valid = run_cli(few("valid", {"--pairs", pairs_file("p.tsv"), "--valid-pairs", file("p.tsv")}));
  ASSERT_EQ(valid.code, 0) << valid.err;
  EXPECT_THAT(valid.err, HasSubstr("validation: 60 pairs"));
}

TEST_F(FirstTraining, PairsOfTextAndLabelTrainAClassifier) {
  std::string lines;
  for (int i = 0; i < 40; ++i)
    lines += (i % 2 == 0 ? "rot " : "blau ") + std::to_string(i) + "\t" + (i % 2 == 0 ? "A" : "B") + "\n";
  const Ran r = run_cli(few("c", {"--task", "classify", "--pairs", folder_.write("c.tsv", lines)}));
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("labels: 2"));
  EXPECT_THAT(r.err, HasSubstr("held out 2 of 40"));
  const auto figures = named(report("c").at("figures"));
  EXPECT_TRUE(figures.contains("accuracy"));
  EXPECT_FALSE(figures.contains("exact_match"));
}

TEST_F(FirstTraining, WhatCannotBeIsSaidInOneLine) {
  const std::string source = file("train.source"), target = file("train.target");
  expect_error(few("m", {}), 2, "--source: is missing: text to train on is needed, source and target, or pairs");
  expect_error(few("m", {"--source", source}), 2, "--target: is missing; source needs it");
  expect_error(few("m", {"--target", target}), 2, "--source: is missing; target needs it");
  expect_error(few("m", {"--pairs", source, "--target", target}), 2, "--pairs: has both sides");
  expect_error(few("m", {"--source", source, "--target", target, "--valid-source", source}), 2, "--valid-target");
  expect_error(few("m", {"--source", source, "--target", target, "--columns", "1,2"}), 2, "--columns");
  expect_error(few("m", {"--pairs", source}), 1, "train.source:1: 1 column, 2 are needed");
  expect_error(few("m", {"--pairs", pairs_file("x.tsv", "1\t")}), 1,
               "x.tsv:1: 3 columns; choose two of them with columns");
  for (const char* columns : {"1", "a,b", "1,2,3", "1,", "0,0", "0,1", "2,2", "1 2"}) {
    expect_error(few("m", {"--pairs", file("x.tsv"), "--columns", columns}), 2, "--columns");
  }
  const std::string same = folder_.write("same", "a\na\n");
  expect_error(few("m", {"--source", same, "--target", same}), 2, "--valid-source: ");
}

TEST_F(FirstTraining, ItSaysWhatItChoseAndOptionsAreTakenAsTheyAre) {
  const Ran free = run_cli({"train", "--model", file("free"), "--pairs", pairs_file("p.tsv"), "--max-steps", "2"});
  ASSERT_EQ(free.code, 0) << free.err;
  EXPECT_THAT(free.err, HasSubstr("chosen from the corpus size: layers 2, dim 128, ffn 256, heads 4, vocab 100, "
                                  "batch-tokens 256\n"));
  // Given as options, the same values leave the same bytes and nothing to choose.
  const Ran given = run_cli({"train",   "--model",     file("given"),
                             "--pairs", file("p.tsv"), "--max-steps",
                             "2",       "--layers",    "2",
                             "--dim",   "128",         "--ffn",
                             "256",     "--heads",     "4",
                             "--vocab", "100",         "--batch-tokens",
                             "256",     "--warmup",    "1"});
  ASSERT_EQ(given.code, 0) << given.err;
  EXPECT_THAT(given.err, Not(HasSubstr("chosen from")));
  EXPECT_EQ(weights("free"), weights("given"));
  const Ran preset = run_cli(few("preset", {"--pairs", file("p.tsv"), "--preset", "transformer-tiny"}));
  ASSERT_EQ(preset.code, 0) << preset.err;
  const auto config = nlohmann::json::parse(folder_.read("preset/config.json")).at("model");
  EXPECT_EQ(config.at("encoder").at("layers"), 4);
  const Ran resumed =
      run_cli({"train", "--model", file("free"), "--pairs", file("p.tsv"), "--max-steps", "3", "--resume"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
}

TEST_F(FirstTraining, AWarmUpFitsTheLimitAndOneThatDoesNotIsReported) {
  auto words = train("short", {"--max-steps", "10"});
  const auto warmup = std::find(words.begin(), words.end(), "--warmup");
  words.erase(warmup, warmup + 2);
  const Ran fitted = run_cli(words);
  ASSERT_EQ(fitted.code, 0) << fitted.err;
  EXPECT_THAT(fitted.err, Not(HasSubstr("warm-up")));
  EXPECT_EQ(settings("short").at("warmup"), "3");
  const Ran cold = run_cli(train("long", {"--max-steps", "10", "--warmup", "40"}));
  ASSERT_EQ(cold.code, 0) << cold.err;
  EXPECT_THAT(cold.err, HasSubstr("warning: the training ended during its warm-up, after 10 of 40 steps"));
  EXPECT_THAT(cold.err, HasSubstr("--warmup"));
}

TEST_F(FirstTraining, TheReportNamesItsFiguresAndCountsEpochsAsTheLogDoes) {
  const Ran r = run_cli(train("m", {"--max-epochs", "2", "--validate", "accuracy"}));
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("epoch   2"));
  const auto figures = named(report("m").at("figures"));
  EXPECT_EQ(figures.at("epochs"), 2);
  for (const char* name : {"exact_match", "bleu", "valid_loss"}) EXPECT_TRUE(figures.contains(name)) << name;
  const auto options = settings("m");
  for (const char* absent : {"ema", "average", "encoder.cell", "head.decoder.attention", "r-drop"}) {
    EXPECT_FALSE(options.contains(absent)) << absent;
  }
  EXPECT_TRUE(options.contains("encoder.heads"));
  std::istringstream log(folder_.read("m/log.jsonl"));
  std::set<int> epochs;
  for (std::string line; std::getline(log, line);) epochs.insert(nlohmann::json::parse(line).at("epoch").get<int>());
  EXPECT_EQ(epochs, (std::set<int>{1, 2}));
}

TEST_F(FirstTraining, RunReadsGzipFromStandardInput) {
  ASSERT_EQ(run_cli(train("m", {"--max-steps", "4"})).code, 0);
  const std::vector<std::string> run{"run", "--model", file("m"), "--beam", "1"};
  const std::string text = "eins zwei 3\n\neins drei 4\n";
  const Ran plain = run_cli(run, text);
  ASSERT_EQ(plain.code, 0) << plain.err;
  const std::string packed = gzipped(folder_, text);
  for (const std::string& input : {packed, packed + gzipped(folder_, "eins\n")}) {
    const Ran r = run_cli(run, input);
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_TRUE(r.out.starts_with(plain.out)) << r.out;
  }
  const auto error = [&](const std::string& input) {
    const Ran r = run_cli(run, input);
    EXPECT_EQ(r.code, 1);
    return r.err;
  };
  EXPECT_THAT(error(packed.substr(0, packed.size() - 9)), HasSubstr("standard input: the gzip data is cut short"));
  std::string damaged = packed;
  damaged[12] = static_cast<char>(damaged[12] ^ 0x55);
  damaged[13] = static_cast<char>(damaged[13] ^ 0x55);
  EXPECT_THAT(error(damaged), HasSubstr("standard input: "));
  EXPECT_THAT(error(gzipped(folder_, std::string(2 << 20, 'x'))), HasSubstr("line 1 is longer than 1 MiB"));
  EXPECT_EQ(run_cli(run, "\x1F").code, 0) << "one byte alone is text";
}

TEST_F(FirstTraining, APictureOfManyLinesIsRefused) {
  std::string lines;
  for (int i = 0; i < 51; ++i) lines += "{\"source\":[\"a\"],\"target\":[\"b\"],\"weights\":[[1]]}\n";
  const std::string many = folder_.write("many.jsonl", lines);
  expect_error({"view", many, "--svg", file("a.svg")}, 2, "more than 50 lines, too many for one picture; --line N");
  EXPECT_FALSE(exists("a.svg"));
  EXPECT_EQ(run_cli({"view", many, "--svg", file("a.svg"), "--line", "51"}).code, 0);
  EXPECT_EQ(run_cli({"view", many, "--html", file("a.html")}).code, 0);
}

TEST_F(FirstTraining, AttentionOfEveryKindCanBeWrittenAndViewed) {
  ASSERT_EQ(run_cli(train("m", {"--max-steps", "2"})).code, 0);
  const Ran r =
      run_cli({"run", "--model", file("m"), "--max-length", "5", "--kind", "all", "--attention", file("a.jsonl")},
              "eins zwei 3\n\neins drei 4\n");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(run_cli({"view", file("a.jsonl"), "--numbers", "--color", "never"}).code, 0);
  expect_error({"view", file("m/model.safetensors")}, 1, "model.safetensors:1: ");
  expect_error({"view", file("a.jsonl"), "--line", "4"}, 1, "has 3 lines, no line 4");
}

}  // namespace
}  // namespace fovea
