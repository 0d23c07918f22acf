// fovea quantize, and what runs from such folders.
#include <filesystem>

#include "cli/small_training.hpp"

namespace fovea {
namespace {

using test::Ran;
using test::run_cli;

class QuantizeCommand : public test::SmallTraining {};

TEST_F(QuantizeCommand, EveryArchitectureRunsAndScoresFromFewerBits) {
  const std::string text = "eins zwei 3\n\neins drei 1\neins zwei 6\nnie gesehen\n";
  for (const std::string preset : {"rnn-bahdanau", "rnn-luong", "rnn-plain", "cnn", "transformer-tiny"}) {
    SCOPED_TRACE(preset);
    ASSERT_EQ(run_cli(train(preset, {"--preset", preset, "--max-steps", "8"})).code, 0);
    for (const std::string type : {"int8", "f16"}) {
      const std::string small = preset + "." + type;
      const Ran made = run_cli({"quantize", "--model", file(preset), "--out", file(small), "--type", type});
      ASSERT_EQ(made.code, 0) << made.err;
      EXPECT_FALSE(exists(small + "/.partial"));
      EXPECT_LT(weights(small).size(), weights(preset).size());
      const auto run = [&](const std::string& model, std::vector<std::string> more) {
        std::vector<std::string> all{"run", "--model", file(model), "--scores", "--max-length", "6"};
        all.insert(all.end(), more.begin(), more.end());
        const Ran r = run_cli(all, text);
        EXPECT_EQ(r.code, 0) << r.err;
        return r.out;
      };
      const std::string out = run(small, {});
      EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 5);
      // Rounded on loading it is the same, and so whatever the batch and the threads.
      EXPECT_EQ(run(preset, {"--type", type}), out);
      EXPECT_EQ(run(small, {"--batch-tokens", "1", "--threads", "1"}), out);
      EXPECT_EQ(run(small, {"--threads", "2"}), out);
      EXPECT_NE(run(small, {"--beam", "1"}), "");
      const Ran scored = run_cli(
          {"score", "--model", file(small), "--source", file("valid.source"), "--target", file("valid.target")});
      EXPECT_EQ(scored.code, 0) << scored.err;
      EXPECT_EQ(std::count(scored.out.begin(), scored.out.end(), '\n'), 6);
    }
  }
}

TEST_F(QuantizeCommand, AFolderGivesTheOutputsOfItsTypeInAnyBatchAndWrittenAgain) {
  const std::string text = "eins zwei 3\n\neins drei 1\nnie gesehen\n";
  for (const std::string preset : {"rnn-bahdanau", "rnn-luong", "cnn", "transformer-tiny"}) {
    ASSERT_EQ(run_cli(train(preset, {"--preset", preset, "--max-steps", "4"})).code, 0);
    for (const std::string type : {"int8", "f16"}) {
      SCOPED_TRACE(preset + " " + type);
      const Ran made = run_cli({"quantize", "--model", file(preset), "--out", file("p"), "--type", type});
      ASSERT_EQ(made.code, 0) << made.err;
      const auto run = [&](const std::string& model, const std::vector<std::string>& more) {
        std::vector<std::string> all{"run", "--model", file(model), "--scores", "--max-length", "6"};
        all.insert(all.end(), more.begin(), more.end());
        const Ran r = run_cli(all, text);
        EXPECT_EQ(r.code, 0) << r.err;
        return r.out;
      };
      const std::string expected = run(preset, {"--type", type});
      EXPECT_EQ(run("p", {}), expected);
      EXPECT_EQ(run("p", {"--batch-tokens", "1", "--threads", "2"}), expected);
      EXPECT_EQ(run("p", {"--type", type}), expected);
      const auto score = [&](const std::vector<std::string>& model) {
        std::vector<std::string> all{"score", "--source", file("valid.source"), "--target", file("valid.target")};
        all.insert(all.end(), model.begin(), model.end());
        const Ran r = run_cli(all);
        EXPECT_EQ(r.code, 0) << r.err;
        return r.out;
      };
      EXPECT_EQ(score({"--model", file("p")}), score({"--model", file(preset), "--type", type}));
      ASSERT_EQ(run_cli({"quantize", "--model", file("p"), "--out", file("q"), "--type", type}).code, 0);
      EXPECT_EQ(run("q", {}), expected);
    }
  }
}

TEST_F(QuantizeCommand, AnotherModelAtThePlaceIsReplacedWhole) {
  ASSERT_EQ(run_cli(train("a", {"--preset", "transformer-tiny", "--max-steps", "1"})).code, 0);
  ASSERT_EQ(run_cli(train("b", {"--preset", "rnn-bahdanau", "--tokenizer", "char", "--max-steps", "1"})).code, 0);
  ASSERT_EQ(run_cli({"quantize", "--model", file("a"), "--out", file("out")}).code, 0);
  ASSERT_EQ(run_cli({"quantize", "--model", file("b"), "--out", file("out"), "--type", "f16"}).code, 0);
  EXPECT_EQ(run_cli({"run", "--model", file("out"), "--max-length", "3"}, "eins\n").code, 0);
}

TEST_F(QuantizeCommand, ErrorsSayWhatIsWrongAndLeaveNothing) {
  ASSERT_EQ(run_cli(train("a", {"--preset", "transformer-tiny", "--max-steps", "1"})).code, 0);
  expect_error({"quantize", "--model", file("a"), "--out", file("o"), "--type", "int4"}, 2,
               "--type: \"int4\" is not one of fp32, f16, int8");
  expect_error({"quantize", "--model", file("a"), "--out", file("o"), "--type", "fp32"}, 2,
               "must be int8 or f16, is fp32");
  expect_error({"quantize", "--model", file("a"), "--out", file("a")}, 2, "is the model itself");
  ASSERT_EQ(run_cli(train("b", {"--preset", "rnn-bahdanau", "--max-steps", "1"})).code, 0);
  const std::string trained = weights("b");
  expect_error({"quantize", "--model", file("a"), "--out", file("b")}, 2, "b holds a training; another folder");
  EXPECT_EQ(weights("b"), trained);
  expect_error({"quantize", "--model", file("none"), "--out", file("o")}, 1, "there is no such model folder");
  expect_error({"run", "--model", file("a"), "--type", "int4"}, 2, "--type: \"int4\" is not one of");
  EXPECT_FALSE(exists("o"));
  folder_.write("file", "");
  expect_error({"quantize", "--model", file("a"), "--out", file("file/o")}, 1, "cannot be created");
}

}  // namespace
}  // namespace fovea
