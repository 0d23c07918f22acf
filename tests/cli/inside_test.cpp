// fovea explain --model, run --intervene, probe and compare on small trained models.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "cli/small_training.hpp"
#include "fovea/inspector.hpp"
#include "fovea/safetensors.hpp"

namespace fovea {
namespace {

using nlohmann::json;
using test::Ran;
using test::run_cli;
using testing::HasSubstr;

class Inside : public test::SmallTraining {
 protected:
  void make(const std::string& model, std::vector<std::string> more = {}) const {
    if (std::find(more.begin(), more.end(), "--max-steps") == more.end()) more.insert(more.end(), {"--max-steps", "8"});
    const Ran ran = run_cli(train(model, more));
    ASSERT_EQ(ran.code, 0) << ran.err;
  }
  Ran explain(const std::string& model, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{"explain", "--model", file(model), "eins zwei 3"};
    all.insert(all.end(), more.begin(), more.end());
    return run_cli(all);
  }
};

// The JSON that a page holds under a name.
json data_of(const std::string& page, const std::string& name) {
  const std::size_t begin = page.find("id=\"" + name + "\">") + name.size() + 6;
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

// "S[a, b] = 1.50000·0.25000 + … = 0.375": the sum, added up, and what is said of it.
std::pair<double, double> added_up(const std::string& text, const std::string& name) {
  const std::size_t begin = text.find(name + "[");
  EXPECT_NE(begin, std::string::npos) << text;
  std::size_t at = text.find("] =", begin) + 3;
  const std::size_t end = std::min(text.find("\n\n", at), text.find("α[", at));  // the next sum
  std::string line = std::regex_replace(text.substr(at, end - at), std::regex("\\s+"), " ");
  line = std::regex_replace(line, std::regex("−"), "-");
  double sum = 0;
  static const std::regex kTerm("\\(?(-?[0-9.]+)\\)?·\\(?(-?[0-9.]+)\\)?");
  for (std::sregex_iterator t(line.begin(), line.end(), kTerm), none; t != none; ++t) {
    sum += std::stod((*t)[1]) * std::stod((*t)[2]);
  }
  return {sum, std::stod(line.substr(line.rfind("= ") + 2))};
}

TEST_F(Inside, ATransformersPairAddsUpToItsScoreAndTheWeightsAreThoseOfRun) {
  make("m", {"--layers", "2"});
  for (const char* kind : {"encoder", "decoder", "cross"}) {
    const Ran ran = explain("m", {"--kind", kind, "--layer", "1", "--head", "1", "--numbers", file("n.safetensors")});
    ASSERT_EQ(ran.code, 0) << ran.err;
    for (const char* step :
         {"tokens", "position", "Queries, keys and values", "square root", "weights", "W_O", "next word"}) {
      EXPECT_THAT(ran.out, HasSubstr(step)) << kind;
    }
    const auto [sum, shown] = added_up(ran.out, "S");
    EXPECT_NEAR(sum, shown, 0.001) << kind;
    const Ran written =
        run_cli({"run", "--model", file("m"), "--attention", file("a.jsonl"), "--kind", "all"}, "eins zwei 3\n");
    ASSERT_EQ(written.code, 0) << written.err;
    const json record = json::parse(folder_.read("a.jsonl"));
    const Safetensors numbers(file("n.safetensors"));
    const Translator translator{std::filesystem::path(file("m"))};
    const ModelRun run = Inspector(translator).run("eins zwei 3");
    for (const json& map : record["attention"]) {
      const std::string site = map["kind"] == "cross" ? ".cross" : ".self";
      const std::string side = map["kind"] == "encoder" ? "encoder." : "decoder.";
      const std::string name = side + std::to_string(map["layer"].get<int>()) + site + ".weights";
      const Tensor w = numbers.tensor(name).contiguous();
      const auto queries = static_cast<std::int64_t>(map["weights"].size());
      const auto keys = static_cast<std::int64_t>(map["weights"][0].size());
      ASSERT_EQ(w.size(), 2 * queries * keys);
      for (std::int64_t i = 0; i < queries * keys; ++i) {
        const double expected = map["weights"][static_cast<std::size_t>(i / keys)][static_cast<std::size_t>(i % keys)];
        const std::int64_t at = map["head"].get<int>() * queries * keys + i;
        EXPECT_NEAR(w.data()[at], expected, 1e-5) << name;
        EXPECT_NEAR(run.trace.at(name).data()[at], expected, 1e-5) << name;
      }
    }
  }
}

TEST_F(Inside, AnRnnsStepsTheOneVectorAndAConvolutionsWindow) {
  make("rnn", {"--arch", "rnn"});
  make("luong", {"--arch", "rnn", "--attention", "general"});
  make("plain", {"--arch", "rnn", "--attention", "none"});
  make("cnn", {"--arch", "cnn"});
  for (const char* model : {"rnn", "luong"}) {
    const Ran ran = explain(model);
    ASSERT_EQ(ran.code, 0) << ran.err;
    for (const char* part :
         {"encoder's states", "Step 1: ‹start› is read", "scores e", "weights α", "context c", "new state"}) {
      EXPECT_THAT(ran.out, HasSubstr(part)) << model;
    }
  }
  const Ran luong = explain("luong");
  const auto [sum, shown] = added_up(luong.out, "e");
  EXPECT_NEAR(sum, shown, 0.001);
  EXPECT_THAT(explain("plain").out, HasSubstr("one vector"));
  const Ran cnn = explain("cnn");
  EXPECT_EQ(cnn.code, 0) << cnn.err;
  EXPECT_THAT(cnn.out, HasSubstr("The encoder's window"));
  EXPECT_THAT(cnn.out, HasSubstr("The decoder's window"));
}

TEST_F(Inside, EveryArchitecturesNumbersAreThoseOfRunAndOfTheTranslator) {
  make("rnn", {"--arch", "rnn"});
  make("luong", {"--arch", "rnn", "--attention", "general"});
  make("cnn", {"--arch", "cnn", "--layers", "2"});
  make("plain", {"--arch", "rnn", "--attention", "none"});
  for (const char* model : {"rnn", "luong", "cnn", "plain"}) {
    const Ran ran = explain(model, {"--numbers", file("n.safetensors")});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const Safetensors numbers(file("n.safetensors"));
    const Translator translator{std::filesystem::path(file(model))};
    const Generated best = translator.translate(std::vector<std::string>{"eins zwei 3"}, {.beam = 5})[0][0];
    // The logits that are shown give the probability that the search has found.
    const ModelRun run = Inspector(translator).run("eins zwei 3");
    EXPECT_EQ(run.output, best.text) << model;
    double log_probability = 0;
    for (std::size_t i = 0; i < run.target.size(); ++i) {
      for (const Candidate& one : run.next[i]) {
        if (one.text == run.target[i]) log_probability += one.log_probability;
      }
    }
    EXPECT_NEAR(log_probability, best.log_probability, 1e-4) << model;
    if (std::string(model) == "plain") continue;  // it has no weights
    const Ran written =
        run_cli({"run", "--model", file(model), "--attention", file("a.jsonl"), "--kind", "all"}, "eins zwei 3\n");
    ASSERT_EQ(written.code, 0) << written.err;
    const json record = json::parse(folder_.read("a.jsonl"));
    EXPECT_EQ(record["attention"].size(), std::string(model) == "cnn" ? 2U : 1U);
    for (const json& map : record["attention"]) {
      const std::string name = std::string(model) == "cnn"
                                   ? "decoder." + std::to_string(map["layer"].get<int>()) + ".cross.weights"
                                   : "decoder.attention.weights";
      const Tensor w = numbers.tensor(name).contiguous();
      std::vector<double> expected;
      for (const json& row : map["weights"]) expected.insert(expected.end(), row.begin(), row.end());
      ASSERT_EQ(w.size(), static_cast<std::int64_t>(expected.size())) << model;
      for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(w.data()[i], expected[i], 1e-5) << name;
    }
  }
}

TEST_F(Inside, WideMatricesSayWhatTheyLeaveOut) {
  make("m", {"--dim", "32"});
  const Ran ran = explain("m");
  EXPECT_THAT(ran.out, HasSubstr("4 × 32, shown: the 8 columns with the largest entries"));
  const Ran page = explain("m", {"--html", file("e.html"), "--svg", file("e.svg")});
  EXPECT_EQ(page.code, 0) << page.err;
  const json lesson = data_of(folder_.read("e.html"), "lesson");
  EXPECT_EQ(lesson["title"]["key"], "attention.encoder.title");
  EXPECT_EQ(lesson["steps"][1]["tables"][0]["note"]["values"]["columns"], "32");
  EXPECT_EQ(lesson["picture"]["source"].size(), 4U);
  EXPECT_THAT(folder_.read("e.svg"), HasSubstr("<svg"));
}

TEST_F(Inside, TheNumbersAreExplainedInChineseTooAndTokensAsWords) {
  make("m");
  make("rnn", {"--arch", "rnn"});
  make("plain", {"--arch", "rnn", "--attention", "none"});
  make("cnn", {"--arch", "cnn"});
  for (const char* model : {"m", "rnn", "plain", "cnn"}) {
    const Ran ran = explain(model, {"--language", "zh"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("模型自己的数值")) << model;
    EXPECT_THAT(ran.out, HasSubstr("‹句末›")) << model;
    for (const char* english : {"The ", "the ", " of ", "</s>", "‹end›"}) {
      EXPECT_THAT(ran.out, Not(HasSubstr(english))) << model;
    }
  }
  const Ran page = explain("m", {"--language", "zh", "--html", file("zh.html")});
  EXPECT_EQ(page.code, 0) << page.err;
  EXPECT_THAT(folder_.read("zh.html"), HasSubstr("<html lang=\"zh-Hans\">"));
  EXPECT_THAT(explain("m").out, HasSubstr("‹end›"));
}

TEST_F(Inside, ErrorsNameWhatTheModelHasNot) {
  make("m");
  make("rnn", {"--arch", "rnn"});
  const std::vector<std::string> base{"explain", "--model", file("m"), "eins"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), base.begin(), base.end());
    return more;
  };
  expect_error(with({"--layer", "7"}), 2, "--layer: 7 given, there are layers 0 to 0");
  expect_error(with({"--head", "2"}), 2, "--head: 2 given, there are heads 0 to 1");
  expect_error(with({"--query", "9"}), 2, "--query: 9 given");
  expect_error(with({"--dim", "3"}), 2, "--model: the model has its own");
  expect_error({"explain", "--model", file("rnn"), "eins", "--kind", "encoder"}, 2, "it has cross");
  expect_error({"explain", "--model", file("m")}, 2, "SENTENCE");
  expect_error({"explain", "eins", "--layer", "1"}, 2, "--model");
}

TEST_F(Inside, InterventionsFromAFileChangeTheRunsTheyName) {
  make("m", {"--max-steps", "40"});
  const auto run = [&](const std::string& changes) {
    folder_.write("i.json", changes);
    return run_cli({"run", "--model", file("m"), "--scores", "--beam", "1", "--intervene", file("i.json"),
                    "--attention", file("a.jsonl"), "--kind", "cross", "--all-heads"},
                   "eins zwei 3\neins drei 4\n");
  };
  const Ran plain = run("[]");
  ASSERT_EQ(plain.code, 0) << plain.err;
  const auto line = [](const std::string& text, int n) {
    std::istringstream in(text);
    std::string found;
    for (int i = 0; i <= n; ++i) std::getline(in, found);
    return found;
  };
  const Ran one = run(R"([{"do": "cut", "kind": "cross", "key": 2, "line": 2}])");
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(line(one.out, 0), line(plain.out, 0));
  EXPECT_NE(line(one.out, 1), line(plain.out, 1));
  const json changed = json::parse(line(folder_.read("a.jsonl"), 1));
  for (const json& row : changed["weights"]) EXPECT_EQ(row[2], 0);
  EXPECT_NE(run(R"({"interventions": [{"do": "silence"}]})").out, plain.out);
  EXPECT_NE(run(R"([{"do": "swap", "token": 2, "with": "5"}])").out, plain.out);

  const auto refuses = [&](const std::string& changes, const std::string& part) {
    const Ran ran = run(changes);
    EXPECT_EQ(ran.code, 1) << changes;
    EXPECT_THAT(ran.err, HasSubstr(part));
  };
  refuses("{}", "not a list");
  refuses("[1]", "[0]: is not an object");
  refuses(R"([{"do": "kill"}])", "is not one of cut, force");
  refuses(R"([{"do": "cut"}])", "[0].key: is missing");
  refuses(R"([{"do": "cut", "key": -1}])", "[0].key: is not a whole number");
  refuses(R"([{"do": "force", "key": 0, "weight": 2}])", "is not from 0 to 1");
  refuses(R"([{"do": "temperature", "value": 0}])", "is not above 0");
  refuses(R"([{"do": "silence", "colour": 1}])", "\"colour\" is not a field");
  refuses(R"([{"do": "cut", "kind": "self", "key": 0}])", "is not one of cross");
}

TEST_F(Inside, ProbeAndCompare) {
  make("a", {"--keep-checkpoints", "2"});
  make("b", {"--seed", "2"});
  const Ran probe = run_cli({"probe", "--model", file("a"), "eins zwei 3", "--top", "3", "--json", file("p.json")});
  ASSERT_EQ(probe.code, 0) << probe.err;
  EXPECT_THAT(probe.out, HasSubstr("log-probability"));
  EXPECT_THAT(probe.out, HasSubstr("gradient times input"));
  const json found = json::parse(folder_.read("p.json"));
  EXPECT_GT(found["removals"].size(), 6U);
  EXPECT_EQ(found["explanations"].size(), 4U);

  ASSERT_TRUE(exists("a/checkpoints/step-000004/model.safetensors"));
  ASSERT_TRUE(exists("a/checkpoints/step-000008/config.json"));
  const Ran steps = run_cli({"compare", "--checkpoints", file("a"), "eins zwei 3", "--kind", "encoder"});
  ASSERT_EQ(steps.code, 0) << steps.err;
  EXPECT_THAT(steps.out, HasSubstr("step-000004"));
  EXPECT_THAT(steps.out, HasSubstr("the best"));
  // Every checkpoint is given what the model writes in the end, and says what it writes itself.
  const Ran slider = run_cli({"compare", "--checkpoints", file("a"), "eins zwei 3", "--html", file("s.html")});
  ASSERT_EQ(slider.code, 0) << slider.err;
  const json compared = data_of(folder_.read("s.html"), "compared");
  const json pictures = data_of(folder_.read("s.html"), "pictures");
  const json& entries = compared["entries"];
  ASSERT_EQ(entries.size(), 3U);
  ASSERT_EQ(pictures.size(), 3U);
  EXPECT_EQ(compared["kind"], "checkpoints");
  EXPECT_EQ(entries[0]["step"], 4);
  EXPECT_EQ(entries[1]["step"], 8);
  EXPECT_TRUE(entries[2]["step"].is_null());
  EXPECT_EQ(entries[2]["shown"], entries[2]["writes"]);
  const Translator first{std::filesystem::path(file("a/checkpoints/step-000004"))};
  EXPECT_EQ(entries[0]["writes"], first.translate(std::vector<std::string>{"eins zwei 3"}, {})[0][0].text);
  EXPECT_NEAR(entries[0]["log_probability"], Inspector(first).score("eins zwei 3", entries[2]["shown"]), 1e-5);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(entries[i]["shown"], entries[2]["shown"]);
    EXPECT_EQ(pictures[i]["target"], pictures[2]["target"]);
  }
  EXPECT_NE(pictures[0]["weights"], pictures[2]["weights"]);
  const Ran models =
      run_cli({"compare", "--model", file("a"), "--model", file("b"), "eins zwei 3", "--html", file("c.html")});
  ASSERT_EQ(models.code, 0) << models.err;
  EXPECT_EQ(data_of(folder_.read("c.html"), "compared")["kind"], "models");
  const Ran scores = run_cli({"compare", "--scores"});
  ASSERT_EQ(scores.code, 0) << scores.err;
  for (const char* name : {"dot:", "scaled dot:", "general:", "additive:", "cosine:"})
    EXPECT_THAT(scores.out, HasSubstr(name));
  expect_error({"compare", "eins"}, 2, "--model: give two");
  expect_error({"compare", "--model", file("a"), "eins"}, 2, "give at least two models");
  expect_error({"compare", "--checkpoints", file("b"), "eins"}, 1, "has no checkpoints");
  expect_error({"compare", "--checkpoints", file("a"), "--model", file("b"), "eins"}, 2,
               "cannot be combined with --model");
}

TEST_F(Inside, AClassifiersPoolingAndItsEncoder) {
  std::string text;
  for (int i = 0; i < 12; ++i) text += i % 2 == 0 ? "__label__a we like soup\n" : "__label__b we fear rain\n";
  folder_.write("labels.txt", text);
  const auto trained = run_cli({"train",
                                "--task",
                                "classify",
                                "--model",
                                file("c"),
                                "--source",
                                file("labels.txt"),
                                "--valid-source",
                                file("labels.txt"),
                                "--encoder",
                                "transformer",
                                "--layers",
                                "1",
                                "--dim",
                                "16",
                                "--ffn",
                                "16",
                                "--heads",
                                "2",
                                "--pooling",
                                "hops",
                                "--tokenizer",
                                "word",
                                "--max-steps",
                                "8"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Ran ran =
      run_cli({"run", "--model", file("c"), "--attention", file("a.jsonl"), "--kind", "all"}, "we like soup\n");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json record = json::parse(folder_.read("a.jsonl"));
  std::size_t encoder = 0;
  std::size_t pooling = 0;
  for (const json& map : record["attention"]) {
    (map["kind"] == "encoder" ? encoder : pooling) += 1;
    EXPECT_EQ(map["keys"].size(), 4U);
    for (const json& row : map["weights"]) {
      double sum = 0;
      for (const json& w : row) sum += w.get<double>();
      EXPECT_NEAR(sum, 1, 1e-4);
    }
  }
  EXPECT_EQ(encoder, 2U);
  EXPECT_EQ(pooling, 4U) << "a map for each hop";
  const Ran explained = run_cli({"explain", "--model", file("c"), "we like soup"});
  ASSERT_EQ(explained.code, 0) << explained.err;
  EXPECT_THAT(explained.out, HasSubstr("The one vector of the line"));
  EXPECT_THAT(explained.out, HasSubstr("Learned queries attend"));
  const Ran layers = run_cli({"explain", "--model", file("c"), "we like soup", "--kind", "encoder"});
  EXPECT_EQ(layers.code, 0) << layers.err;
  expect_error({"explain", "--model", file("c"), "we like soup", "--target", "x"}, 2, "--target");
}

}  // namespace
}  // namespace fovea
