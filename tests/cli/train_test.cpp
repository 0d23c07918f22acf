// fovea train, run and score through the command line, on a corpus small enough for a test.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/command.hpp"
#include "fovea/precision.hpp"

namespace fovea::cli {
namespace {

namespace fs = std::filesystem;

struct Result {
  int code;
  std::string out, err;
};

Result call(const std::vector<std::string>& arguments, const std::string& input = "") {
  std::istringstream in(input);
  std::ostringstream out;
  std::ostringstream err;
  const int code = run(arguments, {in, out, err});
  return {code, out.str(), err.str()};
}

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class TrainCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("fovea_train_test_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    write("train", 60);
    write("valid", 6);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, int count) const {
    std::ofstream source(file(name + ".source"));
    std::ofstream target(file(name + ".target"));
    for (int i = 0; i < count; ++i) {
      source << "eins " << (i % 3 == 0 ? "zwei " : "drei ") << (i % 7) << '\n';
      target << (i % 7) << (i % 3 == 0 ? " two" : " three") << " one\n";
    }
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::vector<std::string> train(const std::string& model,
                                               const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{"train",
                                 "--model",
                                 file(model),
                                 "--source",
                                 file("train.source"),
                                 "--target",
                                 file("train.target"),
                                 "--valid-source",
                                 file("valid.source"),
                                 "--valid-target",
                                 file("valid.target"),
                                 "--tokenizer",
                                 "word",
                                 "--layers",
                                 "1",
                                 "--dim",
                                 "16",
                                 "--ffn",
                                 "16",
                                 "--heads",
                                 "2",
                                 "--batch-tokens",
                                 "64",
                                 "--checkpoint-every",
                                 "4",
                                 "--report-every",
                                 "2",
                                 "--learning-rate",
                                 "0.01",
                                 "--warmup",
                                 "2"};
    // What is given replaces what stands here: an option is taken once.
    for (const std::string& option : more) {
      const auto same = std::find(all.begin(), all.end(), option);
      if (option.starts_with("--") && same != all.end()) all.erase(same, same + 2);
    }
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  fs::path folder_;
};

TEST_F(TrainCommand, EveryArchitectureTrainsRunsAndScores) {
  for (const char* encoder : {"rnn", "cnn", "transformer"}) {
    for (const char* decoder : {"rnn", "cnn", "transformer"}) {
      SCOPED_TRACE(std::string(encoder) + " " + decoder);
      const std::string model = std::string(encoder) + decoder;
      const Result trained = call(train(model, {"--encoder", encoder, "--decoder", decoder, "--max-steps", "4"}));
      ASSERT_EQ(trained.code, 0) << trained.err;
      for (const char* name :
           {"config.json", "model.safetensors", "log.jsonl", "report.html", "checkpoint.safetensors"}) {
        EXPECT_TRUE(fs::exists(folder_ / model / name)) << name;
      }
      const Result out = call({"run", "--model", file(model), "--beam", "2", "--max-length", "5", "--attention",
                               file("a.jsonl"), "--alignments", file("a.txt")},
                              "eins zwei 3\n\nnie gesehen\n");
      ASSERT_EQ(out.code, 0) << out.err;
      EXPECT_EQ(std::count(out.out.begin(), out.out.end(), '\n'), 3);
      EXPECT_NE(out.out.find("\n\n"), std::string::npos) << "an empty line gives an empty line";
      std::ifstream attention(file("a.jsonl"));
      std::string line;
      ASSERT_TRUE(std::getline(attention, line));
      const auto json = nlohmann::json::parse(line);
      ASSERT_EQ(json["weights"].size(), json["target"].size());
      for (const auto& row : json["weights"]) {
        ASSERT_EQ(row.size(), json["source"].size());
        double sum = 0;
        for (const auto& w : row) sum += w.get<double>();
        EXPECT_NEAR(sum, 1.0, 1e-4);
      }
      const Result scored =
          call({"score", "--model", file(model), "--source", file("valid.source"), "--target", file("valid.target")});
      ASSERT_EQ(scored.code, 0) << scored.err;
      EXPECT_EQ(std::count(scored.out.begin(), scored.out.end(), '\n'), 6);
    }
  }
}

TEST_F(TrainCommand, SeveralModelsRunAsOne) {
  ASSERT_EQ(call(train("a", {"--preset", "rnn-bahdanau", "--max-steps", "4"})).code, 0);
  ASSERT_EQ(call(train("b", {"--preset", "transformer-tiny", "--seed", "2", "--max-steps", "4"})).code, 0);
  const std::string text = "eins zwei 3\n\nnie gesehen\n";
  const auto run = [&](std::vector<std::string> models, std::vector<std::string> more = {}) {
    std::vector<std::string> all{"run", "--max-length", "5", "--scores"};
    for (const auto& model : models) all.insert(all.end(), {"--model", file(model)});
    all.insert(all.end(), more.begin(), more.end());
    return call(all, text);
  };
  const Result both = run({"a", "b"}, {"--attention", file("both.jsonl")});
  ASSERT_EQ(both.code, 0) << both.err;
  EXPECT_EQ(std::count(both.out.begin(), both.out.end(), '\n'), 3);
  EXPECT_NE(both.out, run({"a"}).out);
  EXPECT_NE(both.out, run({"b"}).out);
  EXPECT_EQ(run({"b", "a"}).out, both.out);
  EXPECT_TRUE(fs::exists(folder_ / "both.jsonl"));
  const Result layer = run({"a", "b"}, {"--layer", "0"});
  EXPECT_EQ(layer.code, 2);
  EXPECT_NE(layer.err.find("--layer: it goes with one model, 2 are given"), std::string::npos) << layer.err;
  ASSERT_EQ(call(train("c", {"--preset", "rnn-bahdanau", "--tokenizer", "char", "--max-steps", "1"})).code, 0);
  const Result unlike = run({"a", "c"});
  EXPECT_EQ(unlike.code, 2);
  EXPECT_NE(unlike.err.find("models that write together need the same"), std::string::npos) << unlike.err;
  EXPECT_EQ(run({"a", "nowhere"}).code, 1);
  // A word that belongs to no option is no model.
  EXPECT_EQ(call({"run", "--model", file("a"), "in.txt"}, text).code, 2);
}

TEST_F(TrainCommand, AMemoryOfPairsMayRankTheOutputs) {
  ASSERT_EQ(call(train("a", {"--preset", "rnn-bahdanau", "--tokenizer", "word", "--max-steps", "4"})).code, 0);
  const std::string text = "eins zwei 3\n\neins drei 1\n";
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all{"run", "--model", file("a"), "--beam", "4", "--scores", "--length-penalty", "0"};
    all.insert(all.end(), more.begin(), more.end());
    return call(all, text);
  };
  const std::string source = file("train.source");
  const std::string target = file("train.target");
  // Without weight they come in the model's order; with all of it, in the memory's.
  const Result alone = run({"--n-best", "4"});
  const Result none =
      run({"--n-best", "4", "--recall-source", source, "--recall-target", target, "--recall-weight", "0"});
  ASSERT_EQ(none.code, 0) << none.err;
  EXPECT_EQ(none.out, alone.out);
  const Result ranked =
      run({"--n-best", "4", "--recall-source", source, "--recall-target", target, "--recall-weight", "1"});
  ASSERT_EQ(ranked.code, 0) << ranked.err;
  const auto outputs = [](const std::string& out) {
    std::vector<std::string> all;
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);) all.push_back(line.substr(line.find('\t') + 1));
    return all;
  };
  auto before = outputs(alone.out);
  auto after = outputs(ranked.out);
  EXPECT_NE(before, after);
  ASSERT_EQ(after.size(), 12U);
  std::sort(before.begin(), before.begin() + 4);
  std::sort(after.begin(), after.begin() + 4);
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + 4, after.begin())) << "other outputs, not another order";
  // One output a line, as without.
  const Result best = run({"--recall-source", source, "--recall-target", target});
  EXPECT_EQ(std::count(best.out.begin(), best.out.end(), '\n'), 3);

  EXPECT_NE(best.out.find("\n0.0000\t\n"), std::string::npos) << "an empty line is not ranked: " << best.out;
  // Fewer outputs than asked for are not filled up.
  const Result few = run({"--n-best", "4", "--max-length", "1", "--no-repeat-ngram", "1"});
  EXPECT_EQ(std::count(few.out.begin(), few.out.end(), '\n'), [&] {
    const auto out = run({"--n-best", "4", "--max-length", "1", "--no-repeat-ngram", "1", "--recall-source", source,
                          "--recall-target", target})
                         .out;
    return std::count(out.begin(), out.end(), '\n');
  }());

  EXPECT_EQ(run({"--recall-source", source}).code, 2);
  EXPECT_EQ(run({"--recall-source", source, "--recall-target", target, "--beam", "1"}).code, 2);
  EXPECT_EQ(run({"--recall-weight", "0.5"}).code, 2);
  EXPECT_EQ(run({"--recall-source", source, "--recall-target", target, "--recall-weight", "2"}).code, 2);
  EXPECT_EQ(run({"--recall-source", source, "--recall-target", target, "--sample"}).code, 2);
  const Result unlike = run({"--recall-source", source, "--recall-target", file("valid.target")});
  EXPECT_EQ(unlike.code, 1);
  EXPECT_NE(unlike.err.find("has 60 lines"), std::string::npos) << unlike.err;
  std::ofstream(file("long.target")) << "1 2 3 4 5 6 7 8\n";
  std::ofstream(file("long.source")) << "a\n";
  const Result nothing = run({"--recall-source", file("long.source"), "--recall-target", file("long.target")});
  EXPECT_EQ(nothing.code, 1);
  EXPECT_NE(nothing.err.find("no line can be read token by token"), std::string::npos) << nothing.err;
}

TEST_F(TrainCommand, WhatComesInIsCheckedAndAByteOrderMarkIsNoText) {
  ASSERT_EQ(call(train("a", {"--max-steps", "2"})).code, 0);
  const auto run = [&](const std::string& text) {
    return call({"run", "--model", file("a"), "--max-length", "5", "--attention", file("a.jsonl")}, text);
  };
  ASSERT_EQ(run("eins zwei\r\n").code, 0);
  const std::string plain = bytes_of(folder_ / "a.jsonl");
  ASSERT_EQ(run("\xEF\xBB\xBF"
                "eins zwei\n")
                .code,
            0);
  EXPECT_EQ(bytes_of(folder_ / "a.jsonl"), plain);
  const Result nul = run(std::string("eins\nzw\0ei\n", 11));
  EXPECT_EQ(nul.code, 1);
  EXPECT_NE(nul.err.find("line 2 holds a NUL"), std::string::npos) << nul.err;
  const Result bytes = run("eins\nzw\xff\n");
  EXPECT_EQ(bytes.code, 1);
  EXPECT_NE(bytes.err.find("line 2 is not UTF-8 at byte 3"), std::string::npos) << bytes.err;
}

TEST_F(TrainCommand, TheSameSeedGivesTheSameBytesAndResumingChangesNothing) {
  ASSERT_EQ(call(train("a", {"--max-steps", "12"})).code, 0);
  ASSERT_EQ(call(train("b", {"--max-steps", "12"})).code, 0);
  EXPECT_EQ(bytes_of(folder_ / "a/model.safetensors"), bytes_of(folder_ / "b/model.safetensors"));
  ASSERT_EQ(call(train("c", {"--max-steps", "8"})).code, 0);
  const Result resumed = call(train("c", {"--max-steps", "12", "--resume"}));
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(bytes_of(folder_ / "a/model.safetensors"), bytes_of(folder_ / "c/model.safetensors"));
}

TEST_F(TrainCommand, ReplicasGiveTheSameBytesOnAnyNumberOfThreadsAlsoWhenItGoesOn) {
  for (const char* preset : {"transformer-tiny", "rnn-bahdanau", "cnn"}) {
    SCOPED_TRACE(preset);
    const auto with = [&](const char* name, const char* threads, const char* steps) {
      return train(name, {"--preset", preset, "--micro-tokens", "16", "--replicas", "3", "--threads", threads,
                          "--max-steps", steps, "--resume"});
    };
    for (const char* name : {"one", "two", "mixed"}) fs::remove_all(folder_ / name);
    ASSERT_EQ(call(with("one", "1", "12")).code, 0);
    ASSERT_EQ(call(with("two", "2", "12")).code, 0);
    ASSERT_EQ(call(with("mixed", "2", "6")).code, 0);
    ASSERT_EQ(call(with("mixed", "4", "12")).code, 0);
    EXPECT_EQ(bytes_of(folder_ / "one/model.safetensors"), bytes_of(folder_ / "two/model.safetensors"));
    EXPECT_EQ(bytes_of(folder_ / "one/model.safetensors"), bytes_of(folder_ / "mixed/model.safetensors"));
    EXPECT_NE(bytes_of(folder_ / "one/report.html").find("replicas"), std::string::npos);
  }
}

TEST_F(TrainCommand, EmbeddingsAreScaledUnlessToldOtherwise) {
  ASSERT_EQ(call(train("scaled", {"--preset", "rnn-bahdanau", "--max-steps", "4"})).code, 0);
  ASSERT_EQ(call(train("not", {"--preset", "rnn-bahdanau", "--unscaled-embeddings", "--max-steps", "4"})).code, 0);
  const auto scaled = [this](const char* model) {
    return nlohmann::json::parse(bytes_of(folder_ / model / "config.json")).at("model").at("scaled-embeddings");
  };
  EXPECT_EQ(scaled("scaled"), true);
  EXPECT_EQ(scaled("not"), false);
  EXPECT_NE(bytes_of(folder_ / "scaled/model.safetensors"), bytes_of(folder_ / "not/model.safetensors"));
  for (const char* model : {"scaled", "not"}) EXPECT_EQ(call({"run", "--model", file(model)}, "eins\n").code, 0);
}

TEST_F(TrainCommand, SampledSubwordsDifferByEpochAndResumeExactly) {
  const auto sampled = [this](const std::string& model, const char* steps, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--vocab", "60", "--bpe", "--max-steps", steps});
    std::vector<std::string> all = train(model, more);
    *std::find(all.begin(), all.end(), "word") = "sentencepiece";
    return all;
  };
  const Result whole = call(sampled("a", "12", {"--subword-sampling", "0.3"}));
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_NE(whole.err.find("epoch   2"), std::string::npos) << whole.err;  // so that it is cut anew at least once
  ASSERT_EQ(call(sampled("b", "7", {"--subword-sampling", "0.3"})).code, 0);
  const Result resumed = call(sampled("b", "12", {"--subword-sampling", "0.3", "--resume"}));
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(bytes_of(folder_ / "a/model.safetensors"), bytes_of(folder_ / "b/model.safetensors"));
  EXPECT_NE(bytes_of(folder_ / "a/report.html").find("subword-sampling"), std::string::npos);
  const Result other = call(sampled("b", "13", {"--subword-sampling", "0.2", "--resume"}));
  EXPECT_EQ(other.code, 2) << other.err;
  ASSERT_EQ(call(sampled("c", "12")).code, 0);
  EXPECT_NE(bytes_of(folder_ / "a/model.safetensors"), bytes_of(folder_ / "c/model.safetensors"));
}

TEST_F(TrainCommand, RDropTrainsEveryPresetAndStandsInTheReport) {
  for (const char* preset : {"transformer-tiny", "rnn-bahdanau", "cnn"}) {
    const Result r = call(train(preset, {"--preset", preset, "--r-drop", "3", "--max-steps", "4"}));
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_NE(bytes_of(folder_ / preset / "report.html").find("r-drop"), std::string::npos);
    ASSERT_EQ(call(train("without", {"--preset", preset, "--max-steps", "4", "--overwrite"})).code, 0);
    EXPECT_NE(bytes_of(folder_ / preset / "model.safetensors"), bytes_of(folder_ / "without/model.safetensors"));
  }
}

TEST_F(TrainCommand, Bf16TrainsResumesAndStandsInTheReport) {
  const auto with = [&](const char* name, std::vector<std::string> more) {
    more.insert(more.begin(), {"--preset", "rnn-bahdanau"});
    return call(train(name, more));
  };
  const Result whole = with("whole", {"--precision", "bf16", "--max-steps", "6"});
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_NE(whole.err.find(has_bf16() ? "products: bf16" : "products: fp32; there are no tiles for bf16 here"),
            std::string::npos)
      << whole.err;
  EXPECT_EQ(precision(), Precision::fp32);  // it was the training's alone
  EXPECT_NE(bytes_of(folder_ / "whole/report.html").find("bf16"), std::string::npos);
  ASSERT_EQ(with("parts", {"--precision", "bf16", "--max-steps", "3"}).code, 0);
  ASSERT_EQ(with("parts", {"--precision", "bf16", "--max-steps", "6", "--resume"}).code, 0);
  EXPECT_EQ(bytes_of(folder_ / "whole/model.safetensors"), bytes_of(folder_ / "parts/model.safetensors"));
  const Result exact = with("exact", {"--max-steps", "6"});
  ASSERT_EQ(exact.code, 0);
  EXPECT_EQ(exact.err.find("products"), std::string::npos) << exact.err;
  EXPECT_EQ(bytes_of(folder_ / "whole/model.safetensors") == bytes_of(folder_ / "exact/model.safetensors"),
            !has_bf16());
}

TEST_F(TrainCommand, TheConditionalFormTrainsResumesAndRuns) {
  const auto with = [&](const char* name, std::vector<std::string> more) {
    more.insert(more.begin(), {"--preset", "rnn-bahdanau", "--form", "conditional"});
    return call(train(name, more));
  };
  ASSERT_EQ(with("whole", {"--max-steps", "6"}).code, 0);
  ASSERT_EQ(with("parts", {"--max-steps", "3"}).code, 0);
  ASSERT_EQ(with("parts", {"--max-steps", "6", "--resume"}).code, 0);
  EXPECT_EQ(bytes_of(folder_ / "whole/model.safetensors"), bytes_of(folder_ / "parts/model.safetensors"));
  EXPECT_EQ(nlohmann::json::parse(bytes_of(folder_ / "whole/config.json"))["model"]["form"], "conditional");
  const Result run = call({"run", "--model", file("whole"), "--beam", "3", "--max-length", "5"}, "eins zwei\n");
  EXPECT_EQ(run.code, 0) << run.err;
  const Result two = with("m", {"--decoder-layers", "2"});
  EXPECT_EQ(two.code, 2);
  EXPECT_NE(two.err.find("a conditional decoder has one layer of two cells, not 2"), std::string::npos) << two.err;
  const Result none = with("m", {"--attention", "none"});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("it needs attention"), std::string::npos) << none.err;
}

// A step at a time and all at once must agree about where each word stands.
TEST_F(TrainCommand, WithAnyPositionsALineIsScoredAsItWasWritten) {
  for (const char* positions : {"sinusoidal", "learned", "rotary", "rotary-cross", "alibi"}) {
    SCOPED_TRACE(positions);
    const Result trained = call(train(positions, {"--positions", positions, "--max-steps", "40", "--dropout", "0"}));
    ASSERT_EQ(trained.code, 0) << trained.err;
    const Result run = call({"run", "--model", file(positions), "--beam", "3", "--length-penalty", "0", "--scores"},
                            "eins zwei drei\n");
    ASSERT_EQ(run.code, 0) << run.err;
    const std::size_t tab = run.out.find('\t');
    ASSERT_NE(tab, std::string::npos) << run.out;
    std::ofstream(file("in")) << "eins zwei drei\n";
    std::ofstream(file("out")) << run.out.substr(tab + 1);
    const Result scored = call({"score", "--model", file(positions), "--source", file("in"), "--target", file("out")});
    ASSERT_EQ(scored.code, 0) << scored.err;
    EXPECT_NEAR(std::stod(scored.out), std::stod(run.out), 1e-3) << run.out;
  }
  const Result odd = call(train("m", {"--positions", "rotary-cross", "--heads", "16"}));
  EXPECT_EQ(odd.code, 2);
  EXPECT_NE(odd.err.find("rotary-cross needs an even width per head, not 1"), std::string::npos) << odd.err;
}

TEST_F(TrainCommand, RunsOfSourceTokensHaveEmbeddingsOnBothSidesOfAnInterruption) {
  const auto with = [&](const char* name, std::vector<std::string> more) {
    more.insert(more.begin(), {"--preset", "rnn-bahdanau", "--source-ngrams", "3", "--ngram-rows", "200"});
    return call(train(name, more));
  };
  ASSERT_EQ(with("whole", {"--max-steps", "6"}).code, 0);
  ASSERT_EQ(with("parts", {"--max-steps", "3"}).code, 0);
  ASSERT_EQ(with("parts", {"--max-steps", "6", "--resume"}).code, 0);
  EXPECT_EQ(bytes_of(folder_ / "whole/model.safetensors"), bytes_of(folder_ / "parts/model.safetensors"));
  const auto model = nlohmann::json::parse(bytes_of(folder_ / "whole/config.json"))["model"];
  EXPECT_EQ(model["source-ngrams"], 3);
  EXPECT_EQ(model["ngram-rows"], 200);
  const Result run = call({"run", "--model", file("whole"), "--max-length", "5"}, "eins zwei\n");
  EXPECT_EQ(run.code, 0) << run.err;
}

TEST_F(TrainCommand, AConfigFileHoldsOptionsAndTheCommandLineWins) {
  std::ofstream(file("c.toml")) << "max-steps = 2\npreset = \"rnn-luong\"\nshared-vocab = true\n";
  const Result r = call(train("m", {"--config", file("c.toml"), "--max-steps", "3"}));
  ASSERT_EQ(r.code, 0) << r.err;
  const auto config = nlohmann::json::parse(bytes_of(folder_ / "m/config.json"));
  EXPECT_EQ(config["model"]["cell"], "lstm");
  EXPECT_EQ(config["model"]["shared-vocabulary"], true);
  EXPECT_NE(r.err.find("step      3"), std::string::npos) << r.err;
}

TEST_F(TrainCommand, AConfigFileMayBeJoinedToItsOption) {
  std::ofstream(file("c.toml")) << "max-steps = 2\ncell = \"lstm\"\narch = \"rnn\"\n";
  ASSERT_EQ(call(train("m", {"--config=" + file("c.toml")})).code, 0);
  EXPECT_EQ(nlohmann::json::parse(bytes_of(folder_ / "m/config.json"))["model"]["cell"], "lstm");
}

TEST_F(TrainCommand, ATrainingThatDivergesSaysSo) {
  auto arguments = train("m", {"--clip", "0", "--max-steps", "9"});
  std::replace(arguments.begin(), arguments.end(), std::string("0.01"), std::string("1e30"));
  const Result r = call(arguments);
  EXPECT_EQ(r.code, 1);
  EXPECT_NE(r.err.find("--learning-rate"), std::string::npos) << r.err;
}

TEST_F(TrainCommand, GoingOnWithAnotherModelIsRefused) {
  ASSERT_EQ(call(train("m", {"--max-steps", "2"})).code, 0);
  fs::remove(folder_ / "m/checkpoint.safetensors");
  EXPECT_EQ(call(train("m", {"--max-steps", "2", "--resume"})).code, 2)
      << "there is a model, but nothing to go on from";
  fs::remove(folder_ / "m/model.safetensors");
  const Result r = call(train("m", {"--max-steps", "2", "--resume", "--kernel", "5"}));
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("kernel 3, not 5"), std::string::npos) << r.err;
}

TEST_F(TrainCommand, ALongLineToValidateOnDoesNotEndATraining) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "eins ";
  std::ofstream(file("long.source")) << text << "\neins\n";
  std::ofstream(file("long.target")) << "one\none\n";
  auto arguments = train(
      "m", {"--arch", "cnn", "--max-positions", "12", "--max-length", "11", "--max-steps", "4", "--validate", "bleu"});
  arguments[8] = file("long.source");
  arguments[10] = file("long.target");
  const Result trained = call(arguments);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(call({"run", "--model", file("m")}, "eins\n").code, 0);
  const Result refused = call({"run", "--model", file("m")}, "eins\n" + text + "\n");
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.err.find("line 2 has"), std::string::npos) << refused.err;
  EXPECT_EQ(call({"run", "--model", file("m"), "--max-length", "12"}, "eins\n").code, 2);
}

TEST_F(TrainCommand, WhatCannotBeWrittenIsSaidBeforeTheWork) {
  ASSERT_EQ(call(train("m", {"--max-steps", "2"})).code, 0);
  const Result r = call({"run", "--model", file("m"), "--alignments", file("nowhere/a.txt")}, "eins\n");
  EXPECT_EQ(r.code, 1);
  EXPECT_EQ(r.out, "");
}

TEST_F(TrainCommand, WhatCannotBeIsSaidInOneLine) {
  const auto expect = [&](const std::vector<std::string>& arguments, int code, const std::string& part) {
    const Result r = call(arguments);
    EXPECT_EQ(r.code, code) << r.err;
    EXPECT_NE(r.err.find(part), std::string::npos) << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  };
  expect(train("m", {"--preset", "nothing"}), 2, "preset");
  expect(train("m", {"--heads", "3"}), 2, "heads: 3 do not divide the width 16");
  expect(train("m", {"--dropout", "1.5"}), 2, "--dropout");
  expect(train("m", {"--attention-dropout", "-0.5"}), 2, "--attention-dropout");
  expect(train("m", {"--encoder", "lstm"}), 2, "--encoder");
  expect(train("m", {"--layers", "0"}), 2, "layers: 0 given, 1 to 64 are possible");
  expect(train("m", {"--languages", "german"}), 2, "--languages");
  expect(train("m", {"--seed", "-1"}), 2, "--seed");
  expect(train("m", {"--bpe"}), 2, "--bpe");
  expect(train("m", {"--source-ngrams", "9"}), 2, "source-ngrams: 9 given, 1 to 8 are possible");
  expect(train("m", {"--ngram-rows", "0"}), 2, "ngram-rows: 0 given");
  expect(train("m", {"--precision", "fp16"}), 2, "--precision: \"fp16\" is not one of fp32, bf16");
  expect(train("m", {"--replicas", "-1"}), 2, "--replicas");
  expect(train("m", {"--preset", "cnn", "--unscaled-embeddings"}), 2, "unscaled-embeddings");
  expect(train("m", {"--r-drop", "-1"}), 2, "--r-drop");
  expect(train("m", {"--r-drop", "nan"}), 2, "--r-drop");
  expect(train("m", {"--subword-sampling", "0.1"}), 2, "--tokenizer sentencepiece, not word");
  expect(train("m", {"--subword-sampling", "1"}), 2, "--subword-sampling");
  expect(train("m", {"--subword-sampling", "nan"}), 2, "--subword-sampling");
  std::ofstream(file("blank")) << std::string(60, '\n');
  auto empty = train("m");
  empty[4] = file("blank");
  expect(empty, 1, "only blank lines");
  expect(train("m", {"--arch", "cnn", "--max-positions", "9"}), 2, "--max-positions");
  expect(train("m", {"--config", folder_.string()}), 1, "--config");
  for (const char* text : {"dropout =\n", "nothing = 1\n", "resume = 3\n"}) {
    std::ofstream(file("bad.toml")) << text;
    const Result bad = call(train("m", {"--config", file("bad.toml")}));
    EXPECT_EQ(bad.code, 2) << text << bad.err;
  }
  std::ofstream(file("bytes.toml")) << "\xFF\xFE";
  expect(train("m", {"--config", file("bytes.toml")}), 1, "UTF-8");
  std::ofstream(file("short.target")) << "one\n";
  auto unequal = train("m");
  unequal[6] = file("short.target");
  expect(unequal, 1, "short.target");
  auto missing = train("m");
  missing[4] = file("nowhere");
  expect(missing, 1, "nowhere");
  expect({"run", "--model", file("nowhere")}, 1, "nowhere");
  ASSERT_EQ(call(train("m", {"--max-steps", "2"})).code, 0);
  expect(train("m", {"--max-steps", "2"}), 2, "--resume");
  expect({"run", "--model", file("m"), "--beam", "0"}, 2, "--beam");
  expect({"run", "--model", file("m"), "--layer", "7"}, 2, "--layer");
  expect({"run", "--model", file("m"), "--attention", file("x"), "--alignments", file("x")}, 2, "both name");
  auto over = train("m", {"--overwrite"});  // wrong options leave the old model alone
  std::replace(over.begin(), over.end(), std::string("64"), std::string("1"));
  expect(over, 2, "--batch-tokens");
  EXPECT_EQ(call({"run", "--model", file("m")}, "eins\n").code, 0);
  const std::string two = call({"run", "--model", file("m"), "--n-best", "2"}, "eins\n\n").out;
  EXPECT_EQ(std::count(two.begin(), two.end(), '\n'), 4) << "two for each line, the empty one too";
  std::ofstream(folder_ / "m/model.safetensors") << "broken";
  expect({"run", "--model", file("m")}, 1, "model.safetensors");
}

}  // namespace
}  // namespace fovea::cli
