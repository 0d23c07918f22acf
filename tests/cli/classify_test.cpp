// fovea train --task classify, and what fovea run makes of it.
#include <gtest/gtest.h>

#include "cli/small_training.hpp"

namespace fovea {
namespace {

class Classify : public test::SmallTraining {
 protected:
  void SetUp() override {
    std::string text, labels;
    for (int i = 0; i < 40; ++i) {
      text += i % 2 == 0 ? "eins zwei drei\n" : "vier fuenf\n";
      labels += i % 2 == 0 ? "low\n" : "high\n";
    }
    folder_.write("text", text);
    folder_.write("labels", labels);
    const test::Ran r = test::run_cli({"train",          "--task",     "classify",
                                       "--model",        file("m"),    "--source",
                                       file("text"),     "--target",   file("labels"),
                                       "--valid-source", file("text"), "--valid-target",
                                       file("labels"),   "--encoder",  "none",
                                       "--dim",          "8",          "--tokenizer",
                                       "word",           "--dropout",  "0",
                                       "--max-steps",    "40",         "--learning-rate",
                                       "0.05",           "--warmup",   "2",
                                       "--validate",     "accuracy"});
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_NE(r.err.find("accuracy 100.00%"), std::string::npos) << r.err;
  }
};

TEST_F(Classify, RunPrintsALabelPerLineAndEveryProbabilityWhenAsked) {
  EXPECT_EQ(test::run_cli({"run", "--model", file("m")}, "vier fuenf\n\neins\n").out, "high\n\nlow\n");
  const std::string scores = test::run_cli({"run", "--model", file("m"), "--scores"}, "vier\n").out;
  EXPECT_EQ(scores.substr(0, 5), "high\t");
  EXPECT_NE(scores.find("\tlow\t"), std::string::npos) << scores;
  const std::string top = test::run_cli({"run", "--model", file("m"), "--top", "1"}, "vier\n").out;
  EXPECT_EQ(std::count(top.begin(), top.end(), '\t'), 1);
}

TEST_F(Classify, SeveralModelsClassifyTogether) {
  const std::string alone = test::run_cli({"run", "--model", file("m"), "--scores"}, "vier\n").out;
  EXPECT_EQ(test::run_cli({"run", "--model", file("m"), "--model", file("m"), "--scores"}, "vier\n").out, alone);
  expect_error({"run", "--model", file("m"), "--model", file("m"), "--saliency", "--attention", file("a.jsonl")}, 2,
               "--saliency: it goes with one model, 2 are given");
}

TEST_F(Classify, ParallelConvolutionsCanBeSetInAFile) {
  folder_.write("c.toml",
                "task = \"classify\"\nencoder = \"parallel-cnn\"\nkernels = [2, 3]\ndim = 6\npooling = \"max\"\n");
  const test::Ran r = test::run_cli(
      {"train",        "--config",        file("c.toml"), "--model",        file("p"),    "--source",
       file("text"),   "--target",        file("labels"), "--valid-source", file("text"), "--valid-target",
       file("labels"), "--tokenizer",     "word",         "--dropout",      "0",          "--max-steps",
       "40",           "--learning-rate", "0.02",         "--warmup",       "2"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(folder_.read("p/config.json").find("parallel-cnn"), std::string::npos);
  EXPECT_EQ(test::run_cli({"run", "--model", file("p")}, "vier fuenf\n\neins zwei\n").out, "high\n\nlow\n");
}

TEST_F(Classify, AttentionIsARecordOfTheLabelAndItsWords) {
  const test::Ran r = test::run_cli({"run", "--model", file("m"), "--attention", file("a.jsonl")}, "vier fuenf\n");
  ASSERT_EQ(r.code, 0) << r.err;
  const std::string line = folder_.read("a.jsonl");
  EXPECT_EQ(line.substr(0, 67),
            R"({"source":["vier","fuenf","</s>"],"target":["high"],"weights":[[)" + line.substr(64, 3))
      << line;
  EXPECT_EQ(test::run_cli({"view", file("a.jsonl")}).code, 0);
}

TEST_F(Classify, SaliencyIsWrittenAndDrawn) {
  const test::Ran r =
      test::run_cli({"run", "--model", file("m"), "--attention", file("a.jsonl"), "--saliency"}, "vier fuenf\n\n");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(folder_.read("a.jsonl").find(R"("labels":[{"label":"high","probability":)"), std::string::npos);
  EXPECT_NE(folder_.read("a.jsonl").find(R"("saliency":[)"), std::string::npos);
  const std::string drawn = test::run_cli({"view", file("a.jsonl"), "--color", "never"}).out;
  EXPECT_NE(drawn.find("saliency for high\nvier("), std::string::npos) << drawn;
  EXPECT_NE(drawn.find("saliency for low"), std::string::npos);
  ASSERT_EQ(test::run_cli({"view", file("a.jsonl"), "--html", file("a.html"), "--svg", file("a.svg")}).code, 0);
  EXPECT_NE(folder_.read("a.html").find("decided-row"), std::string::npos);
  EXPECT_NE(folder_.read("a.svg").find("saliency for high"), std::string::npos);
}

TEST_F(Classify, WhatDoesNotGoTogetherIsRefused) {
  expect_error({"run", "--model", file("m"), "--alignments", file("x")}, 2, "--alignments");
  const auto train = [this](std::vector<std::string> more) {
    std::vector<std::string> all{"train",      "--task",         "classify",    "--model",      file("n"),
                                 "--source",   file("text"),     "--target",    file("labels"), "--valid-source",
                                 file("text"), "--valid-target", file("labels")};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  expect_error(train({"--decoder", "rnn"}), 2, "--decoder: has no effect without a decoder");
  expect_error(train({"--validate", "bleu"}), 2, "--validate");
  expect_error(train({"--pooling", "last"}), 2, "--pooling");
  expect_error(train({"--pooling", "some"}), 2, "learned, context, hops, hierarchical, mean, max, last");
  expect_error(train({"--hops", "2", "--pooling", "learned"}), 2, "--hops: has no effect without the pooling hops");
  expect_error(train({"--encoder", "cnn", "--kernels", "3,4"}), 2,
               "--kernels: has no effect here; it belongs to: parallel-cnn encoder");
  expect_error(train({"--encoder", "parallel-cnn", "--kernels", "3,0"}), 2, "--kernels: must be from 1 to 63, is 0");
  expect_error(train({"--encoder", "parallel-cnn", "--layers", "2"}), 2, "--layers");
  expect_error(train({"--char-ngrams", "3"}), 2, "--char-ngrams: \"3\" is not a range of lengths");
  expect_error(train({"--char-ngrams", "5-3"}), 2, "--char-ngrams");
  expect_error(train({"--buckets", "5"}), 2, "--buckets");
  expect_error(train({"--separator", "|"}), 2, "--separator: has no effect without the pooling hierarchical");
  expect_error(train({"--hops-penalty", "-1", "--pooling", "hops"}), 2, "--hops-penalty");
  expect_error(train({"--vectors", file("none")}), 1, "none");
  expect_error({"run", "--model", file("m"), "--saliency"}, 2, "--saliency: it goes with --attention");
}

}  // namespace
}  // namespace fovea
