// POST /classify, and models of several tasks in one server.
#include <gmock/gmock.h>

#include <thread>

#include "fovea/classifier.hpp"
#include "fovea/error.hpp"
#include "server/serving.hpp"

namespace fovea::server::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class Classify : public Serving {
 protected:
  void SetUp() override {
    Serving::SetUp();
    fovea::test::write_tiny_classifier(folder_ / "topics");
    fovea::test::write_tiny_classifier(folder_ / "plain", Pooling::mean, 5);
    options_.models.push_back(ModelPlace::parse((folder_ / "topics").string()));
    options_.models.push_back(ModelPlace::parse("moods=" + (folder_ / "plain").string()));
    start();
  }
  [[nodiscard]] Answer classify(const nlohmann::json& body) const { return post(port_, "/classify", body); }
};

TEST_F(Classify, TheResponseMatchesTheClassifier) {
  const Classifier classifier(folder_ / "topics");
  const Classification expected = classifier.classify("one two five");
  const auto answer = classify({{"q", "one two five"}, {"attention", true}}).json();
  EXPECT_EQ(answer["label"], expected.label);
  EXPECT_NEAR(answer["probability"].get<double>(), expected.probability, 1e-5);
  ASSERT_THAT(answer["probabilities"], SizeIs(3));
  double sum = 0;
  for (const auto& [label, probability] : answer["probabilities"].items()) {
    EXPECT_NEAR(probability.get<double>(), expected.probabilities.at(label), 1e-5);
    sum += probability.get<double>();
  }
  EXPECT_NEAR(sum, 1, 1e-5);
  EXPECT_THAT(answer["tokens"], ElementsAre("one", "two", "five", "</s>"));
  ASSERT_THAT(answer["attention"], SizeIs(4));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(answer["attention"][i].get<double>(), expected.attention[i], 1e-5);
  EXPECT_FALSE(classify({{"q", "one"}}).json().contains("attention")) << "it was not requested";
}

TEST_F(Classify, AnArrayIsAnsweredByAnArray) {
  const auto answer = classify({{"q", {"one", "", "two\nthree"}}}).json();
  ASSERT_THAT(answer, SizeIs(3));
  EXPECT_EQ(answer[0], classify({{"q", "one"}}).json());
  EXPECT_EQ(answer[1]["label"], "");
  EXPECT_EQ(answer[2]["probabilities"], classify({{"q", "two three"}}).json()["probabilities"]);
}

TEST_F(Classify, TheLikeliestLabelsComeFirst) {
  const Answer all = classify({{"q", "four five"}});
  const auto ordered = nlohmann::ordered_json::parse(all.body);
  double before = 2;
  for (const auto& [label, probability] : ordered["probabilities"].items()) {
    EXPECT_LE(probability.get<double>(), before);
    before = probability.get<double>();
  }
  const auto top = classify({{"q", "four five"}, {"top", 1}}).json();
  ASSERT_THAT(top["probabilities"], SizeIs(1));
  EXPECT_TRUE(top["probabilities"].contains(top["label"].get<std::string>()));
}

TEST_F(Classify, SaliencyIsGivenByLabelOnRequest) {
  const Classifier classifier(folder_ / "topics");
  const Classification expected = classifier.classify("one two five", {.saliency = true});
  const auto answer = classify({{"q", "one two five"}, {"saliency", true}}).json();
  ASSERT_THAT(answer["saliency"], SizeIs(3));
  for (const auto& [label, values] : answer["saliency"].items()) {
    ASSERT_THAT(values, SizeIs(4));
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(values[i].get<double>(), expected.saliency.at(label)[i], 1e-5);
  }
  EXPECT_THAT(classify({{"q", "one"}, {"saliency", true}, {"top", 1}}).json()["saliency"], SizeIs(1));
  EXPECT_FALSE(classify({{"q", "one"}}).json().contains("saliency"));
  EXPECT_EQ(classify({{"q", "one"}, {"model", "moods"}, {"saliency", true}}).status, 200)
      << "a model without attention";
}

TEST_F(Classify, ModelsAreSelectedByName) {
  EXPECT_EQ(classify({{"q", "one"}, {"model", "moods"}}).json()["model"], "moods");
  EXPECT_EQ(classify({{"q", "one"}}).json()["model"], "topics") << "the first one";
  EXPECT_THAT(classify({{"q", "one"}, {"model", "en-de"}}).error(), HasSubstr("topics, moods"));
  EXPECT_THAT(classify({{"q", "one"}, {"model", "moods"}, {"attention", true}}).error(), HasSubstr("no attention"));
}

TEST_F(Classify, ErrorsNameTheMistake) {
  EXPECT_EQ(classify({{"q", ""}}).error(), "Invalid request: missing q parameter");
  EXPECT_THAT(classify({{"q", {1}}}).error(), HasSubstr("q parameter"));
  EXPECT_THAT(classify({{"q", "one"}, {"top", -1}}).error(), HasSubstr("top"));
  std::string words = "one";
  for (int i = 0; i < 5000; ++i) words += " two";
  const Answer answer = classify({{"q", words}});
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.error(), HasSubstr("5002 tokens"));
  EXPECT_EQ(ask(port_, "GET", "/classify").status, 405);
}

TEST_F(Classify, TheLimitsOfTranslationApply) {
  server_.reset();
  options_.api.char_limit = 10;
  options_.api.batch_limit = 2;
  options_.access.rate = 4;
  start();
  EXPECT_THAT(classify({{"q", "one two three four"}}).error(), HasSubstr("exceeds text limit (10)"));
  EXPECT_THAT(classify({{"q", {"one", "two", "four"}}}).error(), HasSubstr("2"));
  EXPECT_EQ(classify({{"q", {"one", "two"}}}).status, 200);
  EXPECT_EQ(classify({{"q", "one"}}).status, 429) << "each text of an array counts";
}

TEST_F(Classify, ResponsesDoNotDependOnOtherRequests) {
  const std::vector<std::string> texts{"one", "two three four five six seven one", "five five", "three one"};
  std::vector<std::string> alone;
  for (const auto& text : texts) alone.push_back(classify({{"q", text}, {"attention", true}}).body);
  std::vector<std::thread> clients;
  std::atomic<int> different{0};
  for (int c = 0; c < 6; ++c) {
    clients.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const auto k = static_cast<std::size_t>(i) % texts.size();
        if (classify({{"q", texts[k]}, {"attention", true}}).body != alone[k]) ++different;
      }
    });
  }
  for (auto& client : clients) client.join();
  EXPECT_EQ(different, 0);
}

TEST_F(Classify, EveryModelIsListedWithItsTask) {
  const auto models = ask(port_, "GET", "/models").json();
  ASSERT_THAT(models, SizeIs(4));
  EXPECT_EQ(models[0]["name"], "en-de");
  EXPECT_EQ(models[0]["task"], "generate");
  EXPECT_EQ(models[0]["source"], "en");
  EXPECT_EQ(models[2]["name"], "topics");
  EXPECT_EQ(models[2]["task"], "classify");
  EXPECT_THAT(models[2]["labels"], testing::UnorderedElementsAre("red", "green", "blue"));
  EXPECT_EQ(models[2]["attention"], true);
  EXPECT_EQ(models[3]["attention"], false);
  EXPECT_EQ(ask(port_, "GET", "/frontend/settings").json()["fovea"]["models"], models);
  EXPECT_TRUE(ask(port_, "GET", "/spec").json()["paths"].contains("/classify"));
  EXPECT_EQ(ask(port_, "GET", "/languages").json().size(), 2U) << "classifiers have no languages";
}

TEST_F(Classify, ClassificationWorksWithoutATranslationModel) {
  server_.reset();
  options_.models = {ModelPlace::parse((folder_ / "topics").string())};
  start();
  EXPECT_EQ(classify({{"q", "one"}}).status, 200);
  EXPECT_EQ(translate({{"q", "one"}}).status, 400);
  EXPECT_THAT(translate({{"q", "one"}}).error(), HasSubstr("\"generate\""));
  EXPECT_EQ(ask(port_, "GET", "/languages").body, "[]");
  EXPECT_EQ(ask(port_, "GET", "/frontend/settings").status, 200);
  EXPECT_EQ(post(port_, "/detect", {{"q", "the house is on the hill"}}).json()[0]["language"], "en");
}

TEST_F(Classify, TwoModelsWithOneNameAreRefused) {
  server_.reset();
  options_.models.push_back(ModelPlace::parse("moods=" + (folder_ / "topics").string()));
  EXPECT_THAT(fovea::test::message_of<UsageError>([&] { start(); }), HasSubstr("two models are called moods"));
  options_.models = {ModelPlace::parse("moods=" + (folder_ / "a").string())};
  EXPECT_THAT(fovea::test::message_of<UsageError>([&] { start(); }), HasSubstr("en-de=DIR"));
}

}  // namespace
}  // namespace fovea::server::test
