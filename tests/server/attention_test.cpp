// POST /attention and /explain.
#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "server/api/answer_memory.hpp"
#include "server/serving.hpp"

namespace fovea::server::test {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

class Attention : public Serving {
 protected:
  void SetUp() override {
    Serving::SetUp();
    start();
  }
  [[nodiscard]] Answer look(const nlohmann::json& body) const { return post(port_, "/attention", body); }
};

double sum(const nlohmann::json& row) {
  return std::accumulate(row.begin(), row.end(), 0.0,
                         [](double s, const auto& v) { return s + v.template get<double>(); });
}

TEST_F(Attention, ComesWithTheTranslationWhenAsked) {
  const auto answer = translate({{"q", "one two three"}, {"attention", true}}).json();
  const auto& a = answer["attention"];
  EXPECT_THAT(a["source"], ElementsAre("one", "two", "three", "</s>"));
  EXPECT_EQ(a["weights"].size(), a["target"].size());
  for (const auto& row : a["weights"]) {
    EXPECT_THAT(row, SizeIs(4));
    EXPECT_NEAR(sum(row), 1, 1e-3);
  }
  EXPECT_EQ(answer["translatedText"], text_of("one two three"));
  EXPECT_THAT(translate({{"q", {"one", "two three"}}, {"attention", true}}).json()["attention"], SizeIs(2));
}

TEST_F(Attention, OfSeveralSentencesIsBlocks) {
  const auto a = translate({{"q", "one\ntwo three"}, {"attention", true}}).json()["attention"];
  EXPECT_THAT(a["source"], ElementsAre("one", "</s>", "two", "three", "</s>"));
  const auto& rows = a["weights"];
  ASSERT_EQ(rows.size(), a["target"].size());
  for (const auto& row : rows) EXPECT_THAT(row, SizeIs(5));
  EXPECT_NEAR(rows.front()[0].get<double>() + rows.front()[1].get<double>(), 1, 1e-3);
  EXPECT_EQ(rows.back()[0], 0);
}

TEST_F(Attention, OfEveryHeadHasTheMeanThatTranslateGives) {
  const auto a = look({{"q", "one two"}, {"source", "en"}, {"target", "de"}}).json();
  EXPECT_EQ(a["model"], "en-de");
  EXPECT_EQ(a["translatedText"], text_of("one two"));
  ASSERT_THAT(a["attention"], SizeIs(2 * 2));
  for (int l = 0; l < 2; ++l) {
    for (int h = 0; h < 2; ++h) {
      const auto& map = a["attention"][2 * l + h];
      EXPECT_EQ(map["kind"], "cross");
      EXPECT_EQ(map["layer"], l);
      EXPECT_EQ(map["head"], h);
      EXPECT_EQ(map["queries"], a["target"]);
      EXPECT_EQ(map["keys"], a["source"]);
    }
  }
  const auto given = translate({{"q", "one two"}, {"attention", true}}).json()["attention"];
  EXPECT_EQ(a["target"], given["target"]);
  for (std::size_t t = 0; t < a["target"].size(); ++t) {
    for (std::size_t s = 0; s < a["source"].size(); ++s) {
      double mean = 0;
      for (const auto& map : a["attention"]) mean += map["weights"][t][s].get<double>() / 4;
      EXPECT_NEAR(mean, a["weights"][t][s].get<double>(), 2e-4);
      EXPECT_EQ(a["weights"][t][s], given["weights"][t][s]);
    }
  }
}

TEST_F(Attention, OfAnRnnIsOneLayerWithOneHead) {
  const auto a = look({{"q", "eins zwei"}, {"source", "de"}, {"target", "en"}}).json();
  ASSERT_THAT(a["attention"], SizeIs(1));
  EXPECT_EQ(a["attention"][0]["weights"], a["weights"]);
}

TEST_F(Attention, TheBeamIsATreeWhoseBestPathIsTheOutput) {
  for (const char* q : {"one two three", "one two\nthree four"}) {
    const auto a = look({{"q", q}, {"source", "en"}, {"target", "de"}, {"beam", 3}}).json();
    const auto& nodes = a["beam"]["nodes"];
    EXPECT_EQ(nodes[0]["parent"], -1);
    EXPECT_EQ(nodes[0]["token"], "");
    for (std::size_t n = 1; n < nodes.size(); ++n) {
      EXPECT_EQ(nodes[n]["id"], n);
      const auto parent = nodes[n]["parent"].get<std::size_t>();
      ASSERT_LT(parent, n);
      EXPECT_EQ(nodes[n]["step"].get<int>(), nodes[parent]["step"].get<int>() + 1);
      EXPECT_LE(nodes[n]["log_probability"].get<double>(), nodes[parent]["log_probability"].get<double>() + 1e-3);
    }
    nlohmann::json written = nlohmann::json::array();
    const auto& best = a["beam"]["best"];
    for (std::size_t b = 1; b < best.size(); ++b) {
      EXPECT_EQ(nodes[best[b].get<std::size_t>()]["parent"], best[b - 1]);
      written.push_back(nodes[best[b].get<std::size_t>()]["token"]);
    }
    EXPECT_EQ(written, a["target"]);
    EXPECT_EQ(nodes[best.back().get<std::size_t>()]["finished"], true);
    EXPECT_NEAR(nodes[best.back().get<std::size_t>()]["log_probability"], a["log_probability"], 1e-3);
  }
}

TEST(AttentionNumbers, AreLimited) {
  EXPECT_NO_THROW(check_numbers(32'000'000));
  EXPECT_THROW(check_numbers(32'000'001), Refusal);
}

TEST_F(Attention, AWideDefaultBeamIsReducedToTheLimit) {
  options_.api.beam = 100;
  start();
  const auto answer = look({{"q", "one"}, {"source", "en"}, {"target", "de"}});
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(look({{"q", "one"}, {"source", "en"}, {"target", "de"}, {"beam", 33}}).status, 400);
}

TEST_F(Attention, MistakesOfTheClientAreAnswered400) {
  nlohmann::json body = {{"q", "one two"}, {"source", "en"}, {"target", "de"}};
  body["beam"] = 2.9;
  EXPECT_EQ(look(body).error(), "Invalid request: beam parameter is not a whole number");
  body.erase("beam");
  std::string output;
  for (int i = 0; i < 600; ++i) output += "two ";
  body["output"] = output;
  const Answer longer = look(body);
  EXPECT_EQ(longer.status, 400);
  EXPECT_THAT(longer.error(), testing::HasSubstr("tokens"));
  body.erase("output");
  for (const std::string& word : {std::string("no such word"), std::string(1'000'000, 'x') + " y"}) {
    body["interventions"] = {{{"do", "swap"}, {"token", 1}, {"with", word}}};
    const Answer answer = look(body);
    EXPECT_EQ(answer.status, 400) << answer.body.substr(0, 300);
    EXPECT_THAT(answer.error(), testing::StartsWith("Invalid request: interventions"));
    EXPECT_LT(answer.body.size(), 1000);
  }
  body.erase("interventions");
  body["kind"] = std::string(1'000'000, 'k');
  EXPECT_LT(look(body).body.size(), 1000);
}

TEST_F(Attention, InvalidRequestsAreRefused) {
  EXPECT_EQ(look({{"source", "en"}, {"target", "de"}}).error(), "Invalid request: missing q parameter");
  EXPECT_EQ(look({{"q", " \n "}, {"source", "en"}, {"target", "de"}}).status, 400);
  EXPECT_EQ(look({{"q", "one"}, {"source", "en"}, {"target", "de"}, {"beam", 0}}).status, 400);
  EXPECT_EQ(look({{"q", std::string(9000, 'a')}, {"source", "en"}, {"target", "de"}}).status, 400);
}

TEST_F(Attention, OfALongTextListsTheLargestWeightsInLinearSpace) {
  const nlohmann::json ask = {{"source", "en"}, {"target", "de"}, {"kind", "all"}, {"top", 3}, {"beam", 1}};
  const auto of = [&](int lines) {
    nlohmann::json body = ask;
    std::string q;
    for (int i = 0; i < lines; ++i) q += "one two three one two\n";
    body["q"] = q;
    return look(body);
  };
  const auto one = of(1);
  ASSERT_EQ(one.status, 200) << one.body.substr(0, 300);
  nlohmann::json all = ask;
  all["q"] = "one two three one two";
  all.erase("top");
  const auto whole = look(all).json();
  const auto listed = one.json();
  ASSERT_EQ(listed["attention"].size(), whole["attention"].size());
  for (std::size_t m = 0; m < listed["attention"].size(); ++m) {
    const auto& largest = listed["attention"][m]["largest"];
    const auto& weights = whole["attention"][m]["weights"];
    EXPECT_FALSE(listed["attention"][m].contains("weights"));
    ASSERT_EQ(largest["index"].size(), weights.size());
    for (std::size_t r = 0; r < weights.size(); ++r) {
      std::vector<double> sorted = weights[r];
      std::sort(sorted.rbegin(), sorted.rend());
      for (std::size_t n = 0; n < largest["index"][r].size(); ++n) {
        const double w = largest["weight"][r][n];
        EXPECT_NEAR(w, sorted[n], 2e-4);
        EXPECT_NEAR(w, weights[r][largest["index"][r][n].get<std::size_t>()].get<double>(), 2e-4);
      }
    }
  }
  // Twice the text gives about twice the response.
  const std::size_t small = of(20).body.size(), large = of(40).body.size();
  EXPECT_LT(large, small * 5 / 2);
  EXPECT_EQ(of(40).json()["attention"][0]["largest"]["index"].back()[0].get<int>() >= 39 * 5, true);

  nlohmann::json wrong = ask;
  wrong["q"] = "one";
  wrong["top"] = 65;
  EXPECT_EQ(look(wrong).json()["error"], "Invalid request: top parameter must be 0 (all weights) to 64");
  wrong["top"] = 3;
  wrong["merge_words"] = true;
  EXPECT_EQ(look(wrong).status, 400);
}

TEST_F(Serving, SentencesAreCountedTracedAndExplainedOneByOne) {
  start();
  const auto look = [&](nlohmann::json body, const char* path = "/attention") {
    body["source"] = "en";
    body["target"] = "de";
    return post(port_, path, body);
  };
  const auto both = look({{"q", "one two three\nfour"}}).json();
  const auto first = look({{"q", "one two three"}}).json();
  const auto second = look({{"q", "four"}}).json();
  ASSERT_EQ(both["sentences"].size(), 2U);
  EXPECT_EQ(both["sentences"][0], first["sentences"][0]);
  EXPECT_EQ(both["sentences"][1], second["sentences"][0]);
  EXPECT_EQ(first["sentences"][0]["source"], first["source"].size());
  EXPECT_EQ(first["sentences"][0]["output"], first["translatedText"]);

  // A sentence has the same weights alone as in the text.
  const auto given = look({{"q", "one two three\nfour"}, {"output", {"drei", "vier zwei"}}}).json();
  EXPECT_EQ(given["sentences"][1]["output"], "vier zwei");
  const auto alone = look({{"q", "four"}, {"output", "vier zwei"}}).json();
  const auto& rows = given["weights"];
  const std::size_t from = given["sentences"][0]["target"], left = given["sentences"][0]["source"];
  for (std::size_t r = 0; r < alone["weights"].size(); ++r) {
    for (std::size_t c = 0; c < alone["weights"][r].size(); ++c) {
      EXPECT_EQ(rows[from + r][left + c], alone["weights"][r][c]);
    }
  }
  const char* error = "Invalid request: output parameter must be a list of texts, one for each of the 2 sentences";
  EXPECT_EQ(look({{"q", "one two three\nfour"}, {"output", "vier"}}).json()["error"], error);
  EXPECT_EQ(look({{"q", "one two three\nfour"}, {"output", {"vier"}}}).json()["error"], error);

  const auto lesson = [&](int sentence) {
    return look({{"q", "one two three\nfour"}, {"sentence", sentence}, {"kind", "cross"}}, "/explain");
  };
  EXPECT_EQ(lesson(1).json()["lesson"]["lead"]["values"]["input"], "four");
  EXPECT_EQ(lesson(1).json()["lesson"], look({{"q", "four"}, {"kind", "cross"}}, "/explain").json()["lesson"]);
  EXPECT_EQ(lesson(2).json()["error"], "Invalid request: sentence parameter: the text has 2, counted from 0");
}

TEST_F(Serving, AttentionOfACheckpointComesFromItsModel) {
  fovea::test::write_tiny_model(folder_ / "b", fovea::test::tiny_transformer(), "en-fr", 7);
  // The checkpoint is another model, which gives other weights.
  std::filesystem::create_directories(folder_ / "a" / "checkpoints");
  std::filesystem::copy(folder_ / "b", folder_ / "a" / "checkpoints" / "step-000007");
  start();
  const auto look = [&](nlohmann::json body) {
    body["q"] = "one two";
    body["source"] = "en";
    return post(port_, "/attention", body);
  };
  const auto early = look({{"target", "de"}, {"checkpoint", 7}});
  ASSERT_EQ(early.status, 200) << early.body;
  const auto other = look({{"target", "fr"}}).json();
  EXPECT_EQ(early.json()["weights"], other["weights"]);
  EXPECT_NE(early.json()["weights"], look({{"target", "de"}}).json()["weights"]);
  const auto models = ask(port_, "GET", "/models").json();
  EXPECT_EQ(models[0]["checkpoints"], nlohmann::json({7}));
  EXPECT_EQ(models[1]["checkpoints"], nlohmann::json::array());

  EXPECT_EQ(look({{"target", "de"}, {"checkpoint", 8}}).json()["error"],
            "Invalid request: checkpoint parameter must be one of 7");
  EXPECT_EQ(look({{"target", "fr"}, {"checkpoint", 7}}).json()["error"],
            "Invalid request: checkpoint parameter: the model has no kept checkpoints");
  EXPECT_EQ(look({{"target", "de"}, {"checkpoint", -1}}).status, 400);
}

}  // namespace
}  // namespace fovea::server::test
