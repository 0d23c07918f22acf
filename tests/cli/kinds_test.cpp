// fovea run --kind: whose attention is written.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/small_training.hpp"
#include "support/json_near.hpp"

namespace fovea {
namespace {

using nlohmann::json;
using test::Ran;
using test::run_cli;

class Kinds : public test::SmallTraining {
 protected:
  void SetUp() override {
    SmallTraining::SetUp();
    ASSERT_EQ(run_cli(train("m", {"--layers", "2", "--max-steps", "4"})).code, 0);
  }
  Ran run(const std::vector<std::string>& more, const std::string& model = "m") const {
    std::vector<std::string> all{"run", "--model",      file(model), "--attention", file("a.jsonl"), "--max-length",
                                 "5",   "--min-length", "2"};
    all.insert(all.end(), more.begin(), more.end());
    return run_cli(all, "eins zwei 3\n\neins drei\n");
  }
  std::vector<json> lines(const std::vector<std::string>& more) const {
    const Ran ran = run(more);
    EXPECT_EQ(ran.code, 0) << ran.err;
    std::vector<json> all;
    std::istringstream in(folder_.read("a.jsonl"));
    for (std::string line; std::getline(in, line);) all.push_back(json::parse(line));
    EXPECT_EQ(all.size(), 3U);
    all.resize(3);
    return all;
  }
};

// Rows of weights that each sum to 1; for a decoder, over what was written before.
void expect_weights(const json& weights, std::size_t queries, std::size_t keys, bool earlier_only) {
  ASSERT_EQ(weights.size(), queries);
  for (std::size_t q = 0; q < queries; ++q) {
    ASSERT_EQ(weights[q].size(), keys);
    double sum = 0;
    for (std::size_t k = 0; k < keys; ++k) {
      const double w = weights[q][k].get<double>();
      if (earlier_only && k > q) {
        EXPECT_EQ(w, 0) << q << " " << k;
      }
      sum += w;
    }
    EXPECT_NEAR(sum, 1, 1e-4);
  }
}

// What the decoder reads while it writes: the output, one position later.
json shifted(json target) {
  target.insert(target.begin(), "<s>");
  target.erase(target.size() - 1);
  return target;
}

TEST_F(Kinds, EncoderIsTheSourceAttendingToItself) {
  const auto all = lines({"--kind", "encoder"});
  EXPECT_EQ(all[0]["source"], json({"eins", "zwei", "3", "</s>"}));
  for (const std::size_t i : {0U, 2U}) {
    EXPECT_EQ(all[i]["target"], all[i]["source"]);
    expect_weights(all[i]["weights"], all[i]["source"].size(), all[i]["source"].size(), false);
    EXPECT_FALSE(all[i].contains("attention"));
    EXPECT_GT(all[i]["weights"][0][1].get<double>(), 0) << "an encoder sees what follows";
  }
  EXPECT_EQ(all[1], json::parse(R"({"source":[],"target":[],"weights":[]})"));
}

TEST_F(Kinds, DecoderIsTheOutputAttendingToWhatWasWrittenBefore) {
  const auto cross = lines({});
  const auto all = lines({"--kind", "decoder"});
  for (const std::size_t i : {0U, 2U}) {
    EXPECT_EQ(all[i]["source"], shifted(cross[i]["target"]));
    EXPECT_EQ(all[i]["target"], all[i]["source"]);
    expect_weights(all[i]["weights"], all[i]["source"].size(), all[i]["source"].size(), true);
  }
}

TEST_F(Kinds, AllListsEveryKindLayerAndHead) {
  const auto cross = lines({});
  const auto all = lines({"--kind", "all"});
  for (const std::size_t i : {0U, 2U}) {
    EXPECT_EQ(all[i]["source"], cross[i]["source"]);
    EXPECT_EQ(all[i]["target"], cross[i]["target"]);
    test::expect_near(all[i]["weights"], cross[i]["weights"]);
    const json fed = shifted(cross[i]["target"]);
    std::vector<std::string> found;
    for (const json& map : all[i]["attention"]) {
      const auto kind = map["kind"].get<std::string>();
      found.push_back(kind + std::to_string(map["layer"].get<int>()) + std::to_string(map["head"].get<int>()));
      EXPECT_EQ(map["queries"], kind == "encoder" ? cross[i]["source"] : kind == "decoder" ? fed : cross[i]["target"]);
      EXPECT_EQ(map["keys"], kind == "decoder" ? fed : cross[i]["source"]);
      expect_weights(map["weights"], map["queries"].size(), map["keys"].size(), kind == "decoder");
    }
    EXPECT_THAT(found, testing::UnorderedElementsAre("encoder00", "encoder01", "encoder10", "encoder11", "decoder00",
                                                     "decoder01", "decoder10", "decoder11", "cross00", "cross01",
                                                     "cross10", "cross11"));
  }
  EXPECT_EQ(all[1], json::parse(R"({"source":[],"target":[],"weights":[],"attention":[]})"));
}

TEST_F(Kinds, OfOneKindEachHeadCanBeWritten) {
  const auto mean = lines({"--kind", "encoder"});
  const auto all = lines({"--kind", "encoder", "--all-heads"});
  EXPECT_EQ(all[0]["weights"], mean[0]["weights"]);
  ASSERT_EQ(all[0]["attention"].size(), 4U);
  for (const json& map : all[0]["attention"]) EXPECT_EQ(map["kind"], "encoder");
  EXPECT_EQ(run_cli({"view", file("a.jsonl"), "--line", "1"}).code, 0);
}

TEST_F(Kinds, TheOutputIsTheSameWhateverIsWritten) {
  const std::string cross = run({}).out;
  for (const char* kind : {"encoder", "decoder", "all"}) EXPECT_EQ(run({"--kind", kind}).out, cross) << kind;
}

TEST_F(Kinds, WhatAModelDoesNotHaveIsSaid) {
  ASSERT_EQ(run_cli(train("rnn", {"--preset", "rnn-bahdanau", "--max-steps", "1"})).code, 0);
  ASSERT_EQ(run_cli(train("plain", {"--preset", "rnn-plain", "--max-steps", "1"})).code, 0);
  std::filesystem::remove(file("a.jsonl"));
  const auto fails = [&](const std::string& model, const std::string& kind, const std::string& what) {
    const Ran ran = run({"--kind", kind}, model);
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_THAT(ran.err, testing::StartsWith("fovea: " + what));
    EXPECT_FALSE(exists("a.jsonl"));
  };
  fails("rnn", "encoder", "--kind: the model's encoder does not attend to itself");
  fails("rnn", "decoder", "--kind: the model's decoder does not attend to itself");
  fails("plain", "all", "--kind: the model has no attention to write");
  fails("plain", "cross", "--attention: ");
  fails("m", "self", "--kind: \"self\" is not one of cross, encoder, decoder, pooling, all");
  expect_error({"run", "--model", file("m"), "--kind", "all"}, 2, "--kind: it goes with --attention");
  EXPECT_EQ(run({"--kind", "all"}, "rnn").code, 0) << "it has attention to the source";
}

}  // namespace
}  // namespace fovea
