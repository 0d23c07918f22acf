// fovea run with models of a few steps: several at once, a memory beside them, what it reads and writes.
#include <sstream>

#include "cli/small_training.hpp"

namespace fovea {
namespace {

using test::Ran;
using test::run_cli;

class RunCommand : public test::SmallTraining {};

TEST_F(RunCommand, SeveralModelsRunAsOne) {
  ASSERT_EQ(run_cli(train("a", {"--preset", "rnn-bahdanau", "--max-steps", "4"})).code, 0);
  ASSERT_EQ(run_cli(train("b", {"--preset", "transformer-tiny", "--seed", "2", "--max-steps", "4"})).code, 0);
  const std::string text = "eins zwei 3\n\nnie gesehen\n";
  const auto run = [&](std::vector<std::string> models, std::vector<std::string> more = {}) {
    std::vector<std::string> all{"run", "--max-length", "5", "--scores"};
    for (const auto& model : models) all.insert(all.end(), {"--model", file(model)});
    all.insert(all.end(), more.begin(), more.end());
    return run_cli(all, text);
  };
  const Ran both = run({"a", "b"}, {"--attention", file("both.jsonl")});
  ASSERT_EQ(both.code, 0) << both.err;
  EXPECT_EQ(std::count(both.out.begin(), both.out.end(), '\n'), 3);
  EXPECT_NE(both.out, run({"a"}).out);
  EXPECT_NE(both.out, run({"b"}).out);
  EXPECT_EQ(run({"b", "a"}).out, both.out);
  EXPECT_TRUE(exists("both.jsonl"));
  const Ran layer = run({"a", "b"}, {"--layer", "0"});
  EXPECT_EQ(layer.code, 2);
  EXPECT_NE(layer.err.find("--layer: it goes with one model, 2 are given"), std::string::npos) << layer.err;
  ASSERT_EQ(run_cli(train("c", {"--preset", "rnn-bahdanau", "--tokenizer", "char", "--max-steps", "1"})).code, 0);
  const Ran unlike = run({"a", "c"});
  EXPECT_EQ(unlike.code, 2);
  EXPECT_NE(unlike.err.find("models that write together need the same"), std::string::npos) << unlike.err;
  EXPECT_EQ(run({"a", "nowhere"}).code, 1);
  // A word that belongs to no option is no model.
  EXPECT_EQ(run_cli({"run", "--model", file("a"), "in.txt"}, text).code, 2);
}

TEST_F(RunCommand, AMemoryOfPairsMayRankTheOutputs) {
  ASSERT_EQ(run_cli(train("a", {"--preset", "rnn-bahdanau", "--tokenizer", "word", "--max-steps", "4"})).code, 0);
  const std::string text = "eins zwei 3\n\neins drei 1\n";
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all{"run", "--model", file("a"), "--beam", "4", "--scores", "--length-penalty", "0"};
    all.insert(all.end(), more.begin(), more.end());
    return run_cli(all, text);
  };
  const std::string source = file("train.source");
  const std::string target = file("train.target");
  // Without weight they come in the model's order; with all of it, in the memory's.
  const Ran alone = run({"--n-best", "4"});
  const Ran none = run({"--n-best", "4", "--recall-source", source, "--recall-target", target, "--recall-weight", "0"});
  ASSERT_EQ(none.code, 0) << none.err;
  EXPECT_EQ(none.out, alone.out);
  const Ran ranked =
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
  const Ran best = run({"--recall-source", source, "--recall-target", target});
  EXPECT_EQ(std::count(best.out.begin(), best.out.end(), '\n'), 3);

  EXPECT_NE(best.out.find("\n0.0000\t\n"), std::string::npos) << "an empty line is not ranked: " << best.out;
  // Fewer outputs than asked for are not filled up.
  const Ran few = run({"--n-best", "4", "--max-length", "1", "--no-repeat-ngram", "1"});
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
  const Ran unlike = run({"--recall-source", source, "--recall-target", file("valid.target")});
  EXPECT_EQ(unlike.code, 1);
  EXPECT_NE(unlike.err.find("has 60 lines"), std::string::npos) << unlike.err;
  folder_.write("long.target", "1 2 3 4 5 6 7 8\n");
  folder_.write("long.source", "a\n");
  const Ran nothing = run({"--recall-source", file("long.source"), "--recall-target", file("long.target")});
  EXPECT_EQ(nothing.code, 1);
  EXPECT_NE(nothing.err.find("no line can be read token by token"), std::string::npos) << nothing.err;
}

TEST_F(RunCommand, WhatComesInIsCheckedAndAByteOrderMarkIsNoText) {
  ASSERT_EQ(run_cli(train("a", {"--max-steps", "2"})).code, 0);
  const auto run = [&](const std::string& text) {
    return run_cli({"run", "--model", file("a"), "--max-length", "5", "--attention", file("a.jsonl")}, text);
  };
  ASSERT_EQ(run("eins zwei\r\n").code, 0);
  const std::string plain = folder_.read("a.jsonl");
  ASSERT_EQ(run("\xEF\xBB\xBF"
                "eins zwei\n")
                .code,
            0);
  EXPECT_EQ(folder_.read("a.jsonl"), plain);
  const Ran nul = run(std::string("eins\nzw\0ei\n", 11));
  EXPECT_EQ(nul.code, 1);
  EXPECT_NE(nul.err.find("line 2 holds a NUL"), std::string::npos) << nul.err;
  const Ran bytes = run("eins\nzw\xff\n");
  EXPECT_EQ(bytes.code, 1);
  EXPECT_NE(bytes.err.find("line 2 is not UTF-8 at byte 3"), std::string::npos) << bytes.err;
}

// A step at a time and all at once must agree about where each word stands.
TEST_F(RunCommand, WithAnyPositionsALineIsScoredAsItWasWritten) {
  for (const char* positions : {"sinusoidal", "learned", "rotary", "rotary-cross", "alibi"}) {
    SCOPED_TRACE(positions);
    const Ran trained = run_cli(train(positions, {"--positions", positions, "--max-steps", "40", "--dropout", "0"}));
    ASSERT_EQ(trained.code, 0) << trained.err;
    const Ran run = run_cli({"run", "--model", file(positions), "--beam", "3", "--length-penalty", "0", "--scores"},
                            "eins zwei drei\n");
    ASSERT_EQ(run.code, 0) << run.err;
    const std::size_t tab = run.out.find('\t');
    ASSERT_NE(tab, std::string::npos) << run.out;
    folder_.write("in", "eins zwei drei\n");
    folder_.write("out", run.out.substr(tab + 1));
    const Ran scored = run_cli({"score", "--model", file(positions), "--source", file("in"), "--target", file("out")});
    ASSERT_EQ(scored.code, 0) << scored.err;
    EXPECT_NEAR(std::stod(scored.out), std::stod(run.out), 1e-3) << run.out;
  }
}

TEST_F(RunCommand, WhatCannotBeWrittenIsSaidBeforeTheWork) {
  ASSERT_EQ(run_cli(train("m", {"--max-steps", "2"})).code, 0);
  const Ran r = run_cli({"run", "--model", file("m"), "--alignments", file("nowhere/a.txt")}, "eins\n");
  EXPECT_EQ(r.code, 1);
  EXPECT_EQ(r.out, "");
}

TEST_F(RunCommand, EveryLineHasAsManyOutputsAsAskedFor) {
  ASSERT_EQ(run_cli(train("m", {"--max-steps", "2"})).code, 0);
  const std::string two = run_cli({"run", "--model", file("m"), "--n-best", "2"}, "eins\n\n").out;
  EXPECT_EQ(std::count(two.begin(), two.end(), '\n'), 4) << "two for each line, the empty one too";
}

TEST_F(RunCommand, WhatCannotBeIsSaidInOneLine) {
  expect_error({"run", "--model", file("nowhere")}, 1, "nowhere");
  ASSERT_EQ(run_cli(train("m", {"--max-steps", "2"})).code, 0);
  expect_error({"run", "--model", file("m"), "--beam", "0"}, 2, "--beam");
  expect_error({"run", "--model", file("m"), "--layer", "7"}, 2, "--layer");
  expect_error({"run", "--model", file("m"), "--attention", file("x"), "--alignments", file("x")}, 2, "both name");
  folder_.write("m/model.safetensors", "broken");
  expect_error({"run", "--model", file("m")}, 1, "model.safetensors");
}

}  // namespace
}  // namespace fovea
