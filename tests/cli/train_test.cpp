// fovea train through the command line, and that what it leaves runs and scores.
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/small_training.hpp"
#include "fovea/precision.hpp"

namespace fovea {
namespace {

using test::Ran;
using test::run_cli;

class TrainCommand : public test::SmallTraining {};

TEST_F(TrainCommand, EveryArchitectureTrainsRunsAndScores) {
  for (const char* encoder : {"rnn", "cnn", "transformer"}) {
    for (const char* decoder : {"rnn", "cnn", "transformer"}) {
      SCOPED_TRACE(std::string(encoder) + " " + decoder);
      const std::string model = std::string(encoder) + decoder;
      const Ran trained = run_cli(train(model, {"--encoder", encoder, "--decoder", decoder, "--max-steps", "4"}));
      ASSERT_EQ(trained.code, 0) << trained.err;
      for (const char* name :
           {"config.json", "model.safetensors", "log.jsonl", "report.html", "checkpoint.safetensors"}) {
        EXPECT_TRUE(exists(model + "/" + name)) << name;
      }
      const Ran out = run_cli({"run", "--model", file(model), "--beam", "2", "--max-length", "5", "--attention",
                               file("a.jsonl"), "--alignments", file("a.txt")},
                              "eins zwei 3\n\nnie gesehen\n");
      ASSERT_EQ(out.code, 0) << out.err;
      EXPECT_EQ(std::count(out.out.begin(), out.out.end(), '\n'), 3);
      EXPECT_NE(out.out.find("\n\n"), std::string::npos) << "an empty line gives an empty line";
      std::istringstream attention(folder_.read("a.jsonl"));
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
      const Ran scored = run_cli(
          {"score", "--model", file(model), "--source", file("valid.source"), "--target", file("valid.target")});
      ASSERT_EQ(scored.code, 0) << scored.err;
      EXPECT_EQ(std::count(scored.out.begin(), scored.out.end(), '\n'), 6);
    }
  }
}

TEST_F(TrainCommand, TheSameSeedGivesTheSameBytesAndResumingChangesNothing) {
  ASSERT_EQ(run_cli(train("a", {"--max-steps", "12"})).code, 0);
  ASSERT_EQ(run_cli(train("b", {"--max-steps", "12"})).code, 0);
  EXPECT_EQ(weights("a"), weights("b"));
  ASSERT_EQ(run_cli(train("c", {"--max-steps", "8"})).code, 0);
  const Ran resumed = run_cli(train("c", {"--max-steps", "12", "--resume"}));
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(weights("a"), weights("c"));
}

TEST_F(TrainCommand, ReplicasGiveTheSameBytesOnAnyNumberOfThreadsAlsoWhenItGoesOn) {
  for (const char* preset : {"transformer-tiny", "rnn-bahdanau", "cnn"}) {
    SCOPED_TRACE(preset);
    const auto with = [&](const char* name, const char* threads, const char* steps) {
      return train(name, {"--preset", preset, "--micro-tokens", "16", "--replicas", "3", "--threads", threads,
                          "--max-steps", steps, "--resume"});
    };
    for (const char* name : {"one", "two", "mixed"}) std::filesystem::remove_all(file(name));
    ASSERT_EQ(run_cli(with("one", "1", "12")).code, 0);
    ASSERT_EQ(run_cli(with("two", "2", "12")).code, 0);
    ASSERT_EQ(run_cli(with("mixed", "2", "6")).code, 0);
    ASSERT_EQ(run_cli(with("mixed", "4", "12")).code, 0);
    EXPECT_EQ(weights("one"), weights("two"));
    EXPECT_EQ(weights("one"), weights("mixed"));
    EXPECT_NE(folder_.read("one/report.html").find("replicas"), std::string::npos);
  }
}

TEST_F(TrainCommand, EmbeddingsAreScaledByDefault) {
  ASSERT_EQ(run_cli(train("scaled", {"--preset", "rnn-bahdanau", "--max-steps", "4"})).code, 0);
  ASSERT_EQ(run_cli(train("not", {"--preset", "rnn-bahdanau", "--unscaled-embeddings", "--max-steps", "4"})).code, 0);
  const auto scaled = [this](const char* model) {
    const auto config = nlohmann::json::parse(folder_.read(std::string(model) + "/config.json")).at("model");
    EXPECT_EQ(config.at("source").at("scaled-embeddings"), config.at("head").at("scaled-embeddings"));
    return config.at("source").at("scaled-embeddings");
  };
  EXPECT_EQ(scaled("scaled"), true);
  EXPECT_EQ(scaled("not"), false);
  EXPECT_NE(weights("scaled"), weights("not"));
  for (const char* model : {"scaled", "not"}) EXPECT_EQ(run_cli({"run", "--model", file(model)}, "eins\n").code, 0);
}

TEST_F(TrainCommand, SampledSubwordsDifferByEpochAndResumeExactly) {
  const auto sampled = [this](const std::string& model, const char* steps, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--tokenizer", "sentencepiece", "--vocab", "60", "--bpe", "--max-steps", steps});
    return train(model, more);
  };
  const Ran whole = run_cli(sampled("a", "12", {"--subword-sampling", "0.3"}));
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_NE(whole.err.find("epoch   2"), std::string::npos) << whole.err;  // so that it is cut anew at least once
  ASSERT_EQ(run_cli(sampled("b", "7", {"--subword-sampling", "0.3"})).code, 0);
  const Ran resumed = run_cli(sampled("b", "12", {"--subword-sampling", "0.3", "--resume"}));
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(weights("a"), weights("b"));
  EXPECT_NE(folder_.read("a/report.html").find("subword-sampling"), std::string::npos);
  const Ran other = run_cli(sampled("b", "13", {"--subword-sampling", "0.2", "--resume"}));
  EXPECT_EQ(other.code, 2) << other.err;
  ASSERT_EQ(run_cli(sampled("c", "12")).code, 0);
  EXPECT_NE(weights("a"), weights("c"));
}

TEST_F(TrainCommand, RDropTrainsEveryPresetAndIsInTheReport) {
  for (const char* preset : {"transformer-tiny", "rnn-bahdanau", "cnn"}) {
    const Ran r = run_cli(train(preset, {"--preset", preset, "--r-drop", "3", "--max-steps", "4"}));
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_NE(folder_.read(std::string(preset) + "/report.html").find("r-drop"), std::string::npos);
    ASSERT_EQ(run_cli(train("without", {"--preset", preset, "--max-steps", "4", "--overwrite"})).code, 0);
    EXPECT_NE(weights(preset), weights("without"));
  }
}

TEST_F(TrainCommand, Bf16TrainsResumesAndIsInTheReport) {
  const auto with = [&](const char* name, std::vector<std::string> more) {
    more.insert(more.begin(), {"--preset", "rnn-bahdanau", "--dim", "64"});  // smaller products stay fp32
    return run_cli(train(name, more));
  };
  const Ran whole = with("whole", {"--precision", "bf16", "--max-steps", "6"});
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_NE(whole.err.find(has_bf16() ? "products: bf16" : "products: fp32; there are no tiles for bf16 here"),
            std::string::npos)
      << whole.err;
  EXPECT_EQ(precision(), Precision::fp32);  // it was the training's alone
  EXPECT_NE(folder_.read("whole/report.html").find("bf16"), std::string::npos);
  ASSERT_EQ(with("parts", {"--precision", "bf16", "--max-steps", "3"}).code, 0);
  ASSERT_EQ(with("parts", {"--precision", "bf16", "--max-steps", "6", "--resume"}).code, 0);
  EXPECT_EQ(weights("whole"), weights("parts"));
  const Ran exact = with("exact", {"--max-steps", "6"});
  ASSERT_EQ(exact.code, 0);
  EXPECT_EQ(exact.err.find("products"), std::string::npos) << exact.err;
  EXPECT_EQ(weights("whole") == weights("exact"), !has_bf16());
}

TEST_F(TrainCommand, TheConditionalFormTrainsResumesAndRuns) {
  const auto with = [&](const char* name, std::vector<std::string> more) {
    more.insert(more.begin(), {"--preset", "rnn-bahdanau", "--form", "conditional"});
    return run_cli(train(name, more));
  };
  ASSERT_EQ(with("whole", {"--max-steps", "6"}).code, 0);
  ASSERT_EQ(with("parts", {"--max-steps", "3"}).code, 0);
  ASSERT_EQ(with("parts", {"--max-steps", "6", "--resume"}).code, 0);
  EXPECT_EQ(weights("whole"), weights("parts"));
  EXPECT_EQ(nlohmann::json::parse(folder_.read("whole/config.json"))["model"]["head"]["decoder"]["form"],
            "conditional");
  const Ran two = with("two", {"--decoder-layers", "2", "--max-steps", "3"});
  EXPECT_EQ(two.code, 0) << two.err;
  for (const char* name : {"whole", "two"}) {
    const Ran run = run_cli({"run", "--model", file(name), "--beam", "3", "--max-length", "5"}, "eins zwei\n");
    EXPECT_EQ(run.code, 0) << run.err;
  }
  const Ran none = with("m", {"--attention", "none"});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("it needs attention"), std::string::npos) << none.err;
}

TEST_F(TrainCommand, DecodersWithoutSelfAttentionTrainResumeAndRun) {
  for (const std::string self : {"ssru", "average"}) {
    SCOPED_TRACE(self);
    const auto with = [&](const std::string& name, std::vector<std::string> more) {
      more.insert(more.begin(), {"--preset", "transformer-tiny", "--decoder-self", self});
      return run_cli(train((self + name).c_str(), more));
    };
    ASSERT_EQ(with("whole", {"--max-steps", "6"}).code, 0);
    ASSERT_EQ(with("parts", {"--max-steps", "3"}).code, 0);
    ASSERT_EQ(with("parts", {"--max-steps", "6", "--resume"}).code, 0);
    EXPECT_EQ(weights(self + "whole"), weights(self + "parts"));
    const auto model = nlohmann::json::parse(folder_.read(self + "whole/config.json"))["model"];
    EXPECT_EQ(model["head"]["decoder"]["decoder-self"], self);
    EXPECT_FALSE(model["encoder"].contains("decoder-self"));
    const auto run = [&](std::vector<std::string> more, const std::string& lines) {
      more.insert(more.begin(), {"run", "--model", file(self + "whole"), "--beam", "3", "--max-length", "5"});
      return run_cli(more, lines);
    };
    const Ran both = run({"--scores", "--n-best", "2"}, "eins zwei\ndrei\n");
    ASSERT_EQ(both.code, 0) << both.err;
    EXPECT_EQ(both.out,
              run({"--scores", "--n-best", "2"}, "eins zwei\n").out + run({"--scores", "--n-best", "2"}, "drei\n").out);
    for (const char* type : {"int8", "f16"}) {
      const Ran rounded = run({"--type", type}, "eins zwei\n");
      EXPECT_EQ(rounded.code, 0) << rounded.err;
    }
    const Ran maps = run({"--attention", file("a.jsonl"), "--kind", "decoder"}, "eins\n");
    EXPECT_EQ(maps.code, 2);
    EXPECT_NE(maps.err.find("--kind: the model's decoder does not attend to itself"), std::string::npos) << maps.err;
    const Ran exported = run_cli({"export", "--model", file(self + "whole"), "--to", "ctranslate2", file("o")});
    EXPECT_EQ(exported.code, 2);
    EXPECT_NE(exported.err.find("has no " + self + " in place of"), std::string::npos) << exported.err;
  }
  const auto refused = [&](const std::vector<std::string>& more) {
    const Ran ran = run_cli(train("m", more));
    EXPECT_EQ(ran.code, 2);
    return ran.err;
  };
  EXPECT_NE(refused({"--decoder-self", "none"}).find("--decoder-self: \"none\" is not one of attention, ssru, average"),
            std::string::npos);
  EXPECT_NE(refused({"--arch", "rnn", "--decoder-self", "ssru"}).find("--decoder-self: only a transformer decoder"),
            std::string::npos);
  EXPECT_NE(
      refused({"--positions", "alibi", "--decoder-self", "average"}).find("--decoder-self: a mean knows no order"),
      std::string::npos);
  EXPECT_NE(
      refused({"--task", "classify", "--decoder-self", "ssru"}).find("--decoder-self: has no effect without a decoder"),
      std::string::npos);
}

TEST_F(TrainCommand, AConfigFileHoldsOptionsAndTheCommandLineWins) {
  folder_.write("c.toml", "max-steps = 2\npreset = \"rnn-luong\"\nshared-vocab = true\n");
  const Ran r = run_cli(train("m", {"--config", file("c.toml"), "--max-steps", "3"}));
  ASSERT_EQ(r.code, 0) << r.err;
  const auto config = nlohmann::json::parse(folder_.read("m/config.json"));
  EXPECT_EQ(config["model"]["encoder"]["cell"], "lstm");
  EXPECT_EQ(config["model"]["shared-vocabulary"], true);
  EXPECT_NE(r.err.find("step      3"), std::string::npos) << r.err;
}

TEST_F(TrainCommand, AConfigFileMayBeJoinedToItsOption) {
  folder_.write("c.toml", "max-steps = 2\ncell = \"lstm\"\narch = \"rnn\"\n");
  ASSERT_EQ(run_cli(train("m", {"--config=" + file("c.toml")})).code, 0);
  EXPECT_EQ(nlohmann::json::parse(folder_.read("m/config.json"))["model"]["head"]["decoder"]["cell"], "lstm");
}

TEST_F(TrainCommand, ATrainingThatDivergesSaysSo) {
  const Ran r =
      run_cli(train("m", {"--clip", "0", "--max-steps", "9", "--learning-rate", "1e30", "--checkpoint-every", "100"}));
  EXPECT_EQ(r.code, 1);
  EXPECT_NE(r.err.find("learning-rate"), std::string::npos) << r.err;
}

TEST_F(TrainCommand, GoingOnWithAnotherModelIsRefused) {
  ASSERT_EQ(run_cli(train("m", {"--max-steps", "2"})).code, 0);
  std::filesystem::remove(file("m/checkpoint.safetensors"));
  EXPECT_EQ(run_cli(train("m", {"--max-steps", "2", "--resume"})).code, 2)
      << "there is a model, but nothing to go on from";
  std::filesystem::remove(file("m/model.safetensors"));
  const Ran r = run_cli(train("m", {"--max-steps", "2", "--resume", "--heads", "4"}));
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("heads 2, not 4"), std::string::npos) << r.err;
}

TEST_F(TrainCommand, ATrainingGoesOnOnlyWithWhatItWasGiven) {
  ASSERT_EQ(run_cli(train("m", {"--max-steps", "4"})).code, 0);
  const auto resumed = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--resume", "--max-steps", "8"});
    return train("m", more);
  };
  std::string other = folder_.read("train.target");  // the same words on other lines
  const std::size_t first = other.find('\n') + 1;
  other = other.substr(first) + other.substr(0, first);
  folder_.write("other.target", other);
  expect_error(resumed({"--target", file("other.target")}), 2, "was made with other training text");
  expect_error(resumed({"--validate", "accuracy"}), 2, "was made with validate \"loss\", not \"accuracy\"");
  expect_error(resumed({"--valid-source", file("train.source"), "--valid-target", file("train.target")}), 2,
               "was made with other text to validate on");
  expect_error(resumed({"--seed", "7"}), 2, "was made with seed 1, not 7");
  expect_error(resumed({"--average", "2"}), 2, "was made with average 1, not 2");
  expect_error(resumed({"--vocab", "77"}), 2, "was made with vocab 8000, not 77");
  expect_error(resumed({"--min-count", "2"}), 2, "was made with min-count 1, not 2");
  expect_error(resumed({"--shared-vocab"}), 2, "was made with shared-vocab false, not true");
  expect_error(resumed({"--overwrite"}), 2, "--overwrite");
  // Odd lines of a log are not shown; they end nothing.
  folder_.write("m/log.jsonl", folder_.read("m/log.jsonl") + "{\"step\":1,\"best\":\"x\"}\n" +
                                   "{\"step\":2,\"best\":true,\"valid_loss\":null}\n");
  const Ran goes_on = run_cli(resumed({}));
  EXPECT_EQ(goes_on.code, 0) << goes_on.err;
  std::filesystem::remove(file("m/config.json"));
  expect_error(resumed({}), 2, "has lost its config.json");
  expect_error(train("m", {"--max-steps", "2"}), 2, "holds a model");
  EXPECT_TRUE(exists("m/model.safetensors"));
}

TEST_F(TrainCommand, WordsThatLookLikeFlagsAreValuesOfOptionsThatHaveThem) {
  folder_.write("a.toml", "dropout = false\n");
  expect_error(train("m", {"--config", file("a.toml")}), 2, "--dropout");
  folder_.write("a.toml", "languages = \"true\"\nbatch-tokens = 300\n");
  expect_error(train("m", {"--config", file("a.toml"), "--max-steps", "1"}), 2, "--languages");
}

TEST_F(TrainCommand, ALongLineToValidateOnDoesNotEndATraining) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "eins ";
  folder_.write("long.source", text + "\neins\n");
  folder_.write("long.target", "one\none\n");
  const Ran trained = run_cli(
      train("m", {"--arch", "cnn", "--max-positions", "12", "--max-length", "11", "--max-steps", "4", "--validate",
                  "bleu", "--valid-source", file("long.source"), "--valid-target", file("long.target")}));
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(run_cli({"run", "--model", file("m")}, "eins\n").code, 0);
  const Ran refused = run_cli({"run", "--model", file("m")}, "eins\n" + text + "\n");
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.err.find("line 2 has"), std::string::npos) << refused.err;
  EXPECT_EQ(run_cli({"run", "--model", file("m"), "--max-length", "12"}, "eins\n").code, 2);
}

TEST_F(TrainCommand, WhatCannotBeIsSaidInOneLine) {
  expect_error(train("m", {"--preset", "nothing"}), 2, "--preset: \"nothing\" is not one of ");
  expect_error(train("m", {"--heads", "3"}), 2, "--heads: 3 do not divide the width 16");
  expect_error(train("m", {"--positions", "rotary-cross", "--heads", "16"}), 2,
               "rotary-cross needs an even width per head, not 1");
  expect_error(train("m", {"--dropout", "1.5"}), 2, "--dropout");
  expect_error(train("m", {"--attention-dropout", "-0.5"}), 2, "--attention-dropout");
  expect_error(train("m", {"--encoder", "lstm"}), 2, "--encoder");
  expect_error(train("m", {"--layers", "0"}), 2, "--layers: must be from 1 to 64, is 0");
  for (const char* kind : {"transformer", "rnn", "cnn"}) {
    expect_error(train("m", {"--arch", kind, "--dim", "0"}), 2, "--dim: must be from 1 to 16384, is 0");
  }
  expect_error(train("m", {"--max-length", "-1"}), 2, "--max-length: must be at least 1, is -1");
  expect_error(train("m", {"--languages", "german"}), 2, "--languages");
  expect_error(train("m", {"--attention", "general"}), 2,
               "--attention: a transformer decoder has scaled-dot or dot, not general");
  expect_error(train("m", {"--arch", "cnn", "--attention", "none"}), 2,
               "--attention: a cnn decoder has scaled-dot, not none");
  expect_error(train("m", {"--preset", "rnn-plain", "--local", "monotonic"}), 2,
               "--local: has no effect without an attention");
  expect_error(train("m", {"--tokenizer", "syllable"}), 2,
               "--tokenizer: \"syllable\" is not one of sentencepiece, word, char, label");
  expect_error(train("m", {"--seed", "-1"}), 2, "--seed");
  expect_error(train("m", {"--dropout", "-0.1"}), 2, "--dropout: must be at least 0 and less than 1, is -0.1");
  expect_error(train("m", {"--vocab", "4"}), 2, "--vocab: must be at least 5, is 4");
  expect_error(train("m", {"--min-count", "9999"}), 2, "--min-count: none of 10 tokens was met 9999 times, the most");
  expect_error(train("m", {"--learning-rate", "fast"}), 2, "--learning-rate: \"fast\" is not a number");
  expect_error(train("m", {"--layers", "two"}), 2, "--layers: \"two\" is not a whole number");
  expect_error(train("m", {"--bpe"}), 2, "--bpe");
  expect_error(train("m", {"--precision", "fp16"}), 2, "--precision: \"fp16\" is not one of fp32, bf16");
  expect_error(train("m", {"--replicas", "-1"}), 2, "--replicas");
  expect_error(train("m", {"--preset", "cnn", "--unscaled-embeddings"}), 2,
               "--unscaled-embeddings: a CNN cannot do without");
  expect_error(train("m", {"--r-drop", "-1"}), 2, "--r-drop");
  expect_error(train("m", {"--r-drop", "nan"}), 2, "--r-drop");
  expect_error(train("m", {"--subword-sampling", "0.1"}), 2,
               "--subword-sampling: has no effect without the tokenizer sentencepiece");
  expect_error(train("m", {"--subword-sampling", "1"}), 2, "--subword-sampling");
  expect_error(train("m", {"--subword-sampling", "nan"}), 2, "--subword-sampling");
  folder_.write("blank", std::string(60, '\n'));
  expect_error(train("m", {"--source", file("blank")}), 1, "only blank lines");
  expect_error(train("m", {"--arch", "cnn", "--max-positions", "9"}), 2, "--max-positions");
  expect_error(train("m", {"--config", file("")}), 1, "--config");
  for (const char* text : {"dropout =\n", "nothing = 1\n", "resume = 3\n", "help = true\n", "vocab = [16, 32]\n"}) {
    folder_.write("bad.toml", text);
    const Ran bad = run_cli(train("m", {"--config", file("bad.toml")}));
    EXPECT_EQ(bad.code, 2) << text << bad.err;
  }
  folder_.write("twice.toml", "dropout = 0.1\nseed = 1\ndropout = 0.2\n");
  expect_error(train("m", {"--config", file("twice.toml")}), 2, "twice.toml: duplicate option dropout");
  folder_.write("bytes.toml", "\xFF\xFE");
  expect_error(train("m", {"--config", file("bytes.toml")}), 1, "UTF-8");
  folder_.write("large.toml", std::string((1 << 20) + 1, '#'));
  expect_error(train("m", {"--config", file("large.toml")}), 1, "1 MiB");
  expect_error(train("m", {"--config", "/dev/zero"}), 1, "/dev/zero has more than 1 MiB");
  folder_.write("short.target", "one\n");
  expect_error(train("m", {"--target", file("short.target")}), 1, "short.target");
  expect_error(train("m", {"--source", file("nowhere")}), 1, "nowhere");
  ASSERT_EQ(run_cli(train("m", {"--max-steps", "2"})).code, 0);
  expect_error(train("m", {"--max-steps", "2"}), 2, "holds a model; resume continues with it");
  expect_error(train("m", {"--overwrite", "--batch-tokens", "1"}), 2, "--batch-tokens");
  EXPECT_EQ(run_cli({"run", "--model", file("m")}, "eins\n").code, 0) << "wrong options leave the old model alone";
}

}  // namespace
}  // namespace fovea
