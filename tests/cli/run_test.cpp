// fovea run with models of a few steps: several at once, a shortlist, what it reads and writes.
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/small_training.hpp"
#include "support/json_near.hpp"

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

TEST_F(RunCommand, EveryLayerAndHeadCanBeWritten) {
  ASSERT_EQ(run_cli(train("m", {"--layers", "2", "--max-steps", "4"})).code, 0);
  const std::string text = "eins zwei 3\n\neins drei 1\n";
  const auto run = [&](const std::string& to, const std::vector<std::string>& more) {
    std::vector<std::string> all{"run", "--model", file("m"), "--attention", file(to), "--max-length", "5"};
    all.insert(all.end(), more.begin(), more.end());
    return run_cli(all, text);
  };
  const Ran mean = run("mean", {});
  const Ran every = run("all", {"--all-heads"});
  ASSERT_EQ(every.code, 0) << every.err;
  EXPECT_EQ(every.out, mean.out);
  const auto lines_of = [&](const std::string& name) {
    std::vector<nlohmann::json> all;
    std::istringstream lines(folder_.read(name));
    for (std::string line; std::getline(lines, line);) all.push_back(nlohmann::json::parse(line));
    return all;
  };
  const auto all = lines_of("all");
  const auto means = lines_of("mean");
  ASSERT_EQ(all.size(), 3U);
  ASSERT_EQ(means.size(), 3U);
  for (const std::size_t i : {0U, 2U}) {
    test::expect_near(all[i]["weights"], means[i]["weights"]);
    ASSERT_EQ(all[i]["attention"].size(), 4U);
  }
  EXPECT_EQ(all[1]["attention"].size(), 0U);
  // A head is what asking for it alone gives, and what `fovea view` shows.
  for (int l = 0; l < 2; ++l) {
    for (int h = 0; h < 2; ++h) {
      ASSERT_EQ(run("one", {"--layer", std::to_string(l), "--head", std::to_string(h)}).code, 0);
      const auto& head = all[0]["attention"][static_cast<std::size_t>(2 * l + h)];
      EXPECT_EQ(head["layer"], l);
      EXPECT_EQ(head["head"], h);
      test::expect_near(head["weights"], lines_of("one")[0]["weights"]);
    }
  }
  EXPECT_EQ(run_cli({"view", file("all"), "--line", "1", "--layer", "1", "--head", "0"}).code, 0);
  const Ran none = run_cli({"view", file("mean"), "--line", "1", "--layer", "1"});
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(none.out, "");
  EXPECT_NE(none.err.find("--layer: the file has no single heads; fovea run --all-heads"), std::string::npos)
      << none.err;

  expect_error({"run", "--model", file("m"), "--all-heads"}, 2, "--attention");
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--n-best", "2"}, {"--layer", "0"}, {"--head", "1"}, {"--model", file("m")}}) {
    std::vector<std::string> wrong{"--all-heads"};
    wrong.insert(wrong.end(), more.begin(), more.end());
    EXPECT_EQ(run("wrong", wrong).code, 2) << more[0];
    EXPECT_FALSE(exists("wrong"));
  }
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

// A step at a time and all at once must agree about the position of each word.
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
  expect_error({"run", "--model", file("m"), "--layer", "-7"}, 2, "--layer: \"-7\" is not a whole number");
  expect_error({"run", "--model", file("m"), "--seed", "-1"}, 2, "--seed: \"-1\" is not a whole number from 0 to");
  expect_error({"run", "--model", file("m"), "--seed", "18446744073709551616"}, 2, "--seed");
  EXPECT_EQ(run_cli({"run", "--model", file("m"), "--seed", "18446744073709551615"}, "eins\n").code, 0);
  expect_error({"run", "--model", file("m"), "--attention", file("x"), "--alignments", file("x")}, 2, "both name");
  folder_.write("m/model.safetensors", "broken");
  expect_error({"run", "--model", file("m")}, 1, "model.safetensors");
}

}  // namespace
}  // namespace fovea
