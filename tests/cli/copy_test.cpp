// fovea train --copy: words that are in no vocabulary come through.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/small_training.hpp"

namespace fovea {
namespace {

using test::Ran;
using test::run_cli;

class Copy : public test::SmallTraining {
 protected:
  // "please call NAME at noon" to "call NAME": each name occurs once, so none is in the vocabulary.
  void SetUp() override {
    std::string source, target;
    for (int i = 0; i < 300; ++i) {
      const std::string name = name_of(i);
      source += (i % 2 == 0 ? "please call " : "could you mail ") + name + " at noon\n";
      target += (i % 2 == 0 ? "call " : "mail ") + name + "\n";
    }
    folder_.write("train.source", source);
    folder_.write("train.target", target);
    folder_.write("valid.source", "please call Zyx at noon\n");
    folder_.write("valid.target", "call Zyx\n");
  }

  static std::string name_of(int i) {
    std::string name = "N";
    for (int k = 0; k < 3; ++k, i /= 26) name += static_cast<char>('a' + i % 26);
    return name;
  }

  [[nodiscard]] std::vector<std::string> copying(const std::string& model, std::vector<std::string> more) const {
    // clang-format off
    more.insert(more.end(), {"--copy", "--min-count", "2", "--dim", "24", "--dropout", "0", "--max-steps", "220",
                             "--batch-tokens", "256", "--checkpoint-every", "220", "--label-smoothing", "0",
                             "--learning-rate", "0.01"});
    // clang-format on
    return train(model, more);
  }
};

TEST_F(Copy, NamesInNoVocabularyAreWritten) {
  const std::vector<std::vector<std::string>> kinds{
      {"--preset", "rnn-bahdanau"}, {"--arch", "cnn", "--max-positions", "300"}, {"--arch", "transformer"}};
  for (const auto& kind : kinds) {
    SCOPED_TRACE(kind[1]);
    const Ran trained = run_cli(copying(kind[1], kind));
    ASSERT_EQ(trained.code, 0) << trained.err;
    const Ran ran = run_cli({"run", "--model", file(kind[1]), "--attention", file("a.jsonl")},
                            "please call Quentin at noon\ncould you mail Ursula at noon\n\n");
    EXPECT_EQ(ran.out, "call Quentin\nmail Ursula\n\n");
    const std::string lines = folder_.read("a.jsonl");
    const auto record = nlohmann::json::parse(lines.substr(0, lines.find('\n')));
    EXPECT_EQ(record["target"], nlohmann::json({"call", "Quentin", "</s>"}));
    ASSERT_EQ(record["copied"].size(), 3U);
    EXPECT_EQ(record["copied"][1], 1) << "it is in no vocabulary";
    // A batch changes nothing, nor does its neighbours' number of unknown words.
    const Ran alone = run_cli({"run", "--model", file(kind[1]), "--scores"}, "please call Quentin at noon\n");
    const Ran together = run_cli({"run", "--model", file(kind[1]), "--scores"},
                                 "please call Quentin at noon\nAa Bb Cc Dd Ee could you mail Ff at noon\n");
    EXPECT_EQ(alone.out, together.out.substr(0, alone.out.size()));
    // The same number from scoring; the word is known to copying alone.
    folder_.write("s", "please call Quentin at noon\n");
    folder_.write("t", "call Quentin\n");
    const Ran score = run_cli({"score", "--model", file(kind[1]), "--source", file("s"), "--target", file("t")});
    EXPECT_NEAR(std::stod(score.out) / 3, std::stod(alone.out), 2e-3);
  }
  EXPECT_NE(run_cli({"view", file("a.jsonl")}).out.find("Quentin*"), std::string::npos);
  ASSERT_EQ(run_cli({"view", file("a.jsonl"), "--svg", file("a.svg"), "--html", file("a.html")}).code, 0);
  EXPECT_NE(folder_.read("a.svg").find("<text class=\"k\""), std::string::npos);
  EXPECT_NE(folder_.read("a.html").find("\"copied\":["), std::string::npos);
}

TEST_F(Copy, ATrainingGoesOnByteForByteAndCoverageBeginsWhereItIsSaid) {
  const auto options = [](const std::string& steps) {
    return std::vector<std::string>{"--preset", "rnn-bahdanau",     "--copy", "--min-count", "2",   "--coverage-loss",
                                    "1",        "--coverage-after", "5",      "--max-steps", steps, "--threads",
                                    "2"};
  };
  ASSERT_EQ(run_cli(train("whole", options("12"))).code, 0);
  ASSERT_EQ(run_cli(train("parts", options("8"))).code, 0);
  auto more = options("12");
  more.emplace_back("--resume");
  ASSERT_EQ(run_cli(train("parts", more)).code, 0);
  EXPECT_EQ(weights("whole"), weights("parts"));
  auto none = options("12");
  none.erase(none.begin() + 5, none.begin() + 9);
  ASSERT_EQ(run_cli(train("none", none)).code, 0);
  EXPECT_NE(weights("whole"), weights("none"));
  auto later = options("12");
  later[8] = "0.99";
  ASSERT_EQ(run_cli(train("later", later)).code, 0);
  EXPECT_EQ(weights("later"), weights("none"));
}

TEST_F(Copy, SubwordsAreCopiedByTheirIds) {
  const Ran trained = run_cli(train("m", {"--copy", "--tokenizer", "sentencepiece", "--vocab", "60", "--max-steps", "4",
                                          "--subword-sampling", "0.5", "--arch", "transformer"}));
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Ran ran =
      run_cli({"run", "--model", file("m"), "--attention", file("a.jsonl"), "--words"}, "please call ☃ Xu\n");
  EXPECT_EQ(ran.code, 0) << ran.err;
}

TEST_F(Copy, WhatDoesNotGoTogetherIsRefused) {
  expect_error(train("n", {"--copy", "--preset", "rnn-plain"}), 2, "--copy: a decoder without attention");
  expect_error(train("n", {"--copy", "--preset", "rnn-bahdanau", "--local", "predictive"}), 2,
               "--copy: local attention");
  expect_error(train("n", {"--copy", "--preset", "rnn-bahdanau", "--r-drop", "1"}), 2, "--r-drop");
  expect_error(train("n", {"--preset", "rnn-plain", "--coverage-loss", "1"}), 2, "--coverage-loss");
  expect_error(train("n", {"--preset", "rnn-bahdanau", "--coverage-loss", "-1"}), 2,
               "--coverage-loss: must be at least 0, is -1");
  ASSERT_EQ(run_cli(train("a", {"--preset", "rnn-bahdanau", "--max-steps", "1", "--copy"})).code, 0);
  ASSERT_EQ(run_cli(train("b", {"--preset", "rnn-bahdanau", "--max-steps", "1"})).code, 0);
  expect_error({"run", "--model", file("a"), "--model", file("b")}, 2, "only one copies");
}

}  // namespace
}  // namespace fovea
