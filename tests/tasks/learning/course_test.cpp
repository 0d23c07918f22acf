// The models of the course learn their tasks, and their numbers are consistent.
#include "tasks/learning/course.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "tasks/learning/toy_texts.hpp"

namespace fovea::learning {
namespace {

double sum(const nlohmann::json& row) {
  double total = 0;
  for (const auto& value : row) total += value.get<double>();
  return total;
}

TEST(Course, OneVectorFailsOnLongLinesAndAttentionDoesNot) {
  Course course;
  const auto facts = course.train("fixed", {});
  EXPECT_GT(facts["plain"].front(), 0.9);
  EXPECT_LT(facts["plain"].back(), 0.7);
  EXPECT_GT(facts["attention"].back(), 0.95);
  const auto answer = course.ask("fixed", {{"text", "c a b"}});
  EXPECT_EQ(answer["attention"], "c a b");
  for (const auto& row : answer["weights"]) EXPECT_NEAR(sum(row), 1, 1e-3);
}

TEST(Course, BothDecodersTranslateAndTheirNumbersFit) {
  Course course;
  const auto facts = course.train("steps", {});
  for (const char* form : {"bahdanau", "luong"}) {
    EXPECT_GT(facts[form], 0.9);
    const auto answer = course.ask("steps", {{"text", "the black cat sees a red car"}, {"form", form}});
    EXPECT_EQ(answer["text"], "le chat noir voit une voiture rouge") << form;
    // The context is the sum of the states by their weights, the weights are the softmax of the scores.
    for (std::size_t t = 0; t < answer["target"].size(); ++t) {
      double powers = 0, context = 0;
      for (std::size_t j = 0; j < answer["source"].size(); ++j) {
        powers += std::exp(answer["scores"][t][j].get<double>());
        context += answer["weights"][t][j].get<double>() * answer["states"][j][0].get<double>();
      }
      EXPECT_NEAR(std::exp(answer["scores"][t][0].get<double>()) / powers, answer["weights"][t][0], 1e-4);
      EXPECT_NEAR(context, answer["context"][t][0], 1e-3);
    }
  }
  EXPECT_THROW((void)course.ask("steps", {{"text", "a cat"}, {"form", "other"}}), UsageError);
}

TEST(Course, ThePronounFindsItsWordWithTheScoresOfItsQuery) {
  Course course;
  EXPECT_GT(course.train("qkv", {})["right"], 0.95);
  for (const auto& [text, meant] :
       {std::pair{"看小猫，它好可爱", "小猫"}, std::pair{"小猫在桌子旁边，它好结实", "桌子"},
        std::pair{"苹果在小狗旁边，它好新鲜", "苹果"}}) {
    EXPECT_EQ(course.ask("qkv", {{"text", text}})["guesses"][0]["text"], meant);
  }
  const auto layer = course.ask("qkv", {{"text", "看小猫，它好可爱"}})["layers"][1];
  double score = 0;
  const auto width = static_cast<double>(layer["query"][3].size());
  for (std::size_t d = 0; d < layer["query"][3].size(); ++d) {
    score += layer["query"][3][d].get<double>() * layer["key"][1][d].get<double>();
  }
  EXPECT_NEAR(score / std::sqrt(width), layer["scores"][3][1], 1e-3);
  // The weights are not saturated: a reader sees a distribution.
  EXPECT_GT(layer["weights"][3][1], 0.4);
  EXPECT_LT(layer["weights"][3][1], 0.95);
}

TEST(Course, MoreHeadsAnswerMoreAndSilencedOnesLess) {
  Course course;
  const auto facts = course.train("heads", {});
  EXPECT_LT(facts["right"][0], facts["right"][2]);
  EXPECT_GT(facts["right"][2], 0.95);
  const auto wrong = [&](const nlohmann::json& silent) {
    int count = 0;
    const auto answer = course.ask("heads", {{"text", "a b c d e a"}, {"heads", 4}, {"silent", silent}});
    for (const auto& place : answer["places"]) {
      for (const auto& part : place) count += part["right"] ? 0 : 1;
    }
    return count;
  };
  EXPECT_LE(wrong(nlohmann::json::array()), 1);
  EXPECT_GT(wrong({0, 1, 2, 3}), 4);
}

TEST(Course, AConvolutionReachesItsWindowOnlyAndTheOthersEverything) {
  Course course;
  const auto facts = course.train("encoders", {});
  const auto models = course.ask("encoders", {{"text", "the black cat sees a red car"}})["models"];
  for (const char* kind : {"rnn", "cnn", "transformer"}) {
    EXPECT_GT(facts["right"][kind], 0.9) << kind;
    const auto& first = models[kind]["reach"][0];
    EXPECT_GT(first[1], 0.01) << kind;
    if (std::string(kind) == "cnn") {
      EXPECT_EQ(first[2], 0);
    } else {
      EXPECT_GT(first[2], 0) << kind;
    }
  }
}

TEST(Course, AStoppedTrainingKeepsThePreviousModels) {
  Course course;
  int steps = 0;
  const Watch watch{.progress = [&](const Progress&) { ++steps; }, .stop = [&] { return steps >= 5; }};
  EXPECT_THROW((void)course.train("qkv", watch), Stopped);
  EXPECT_EQ(steps, 5);
  EXPECT_TRUE(course.facts("qkv").is_null());
  EXPECT_TRUE(course.state()["training"].is_null());
  const auto facts = course.train("qkv", {});
  steps = 0;
  EXPECT_THROW((void)course.train("qkv", watch, true), Stopped);
  EXPECT_EQ(course.facts("qkv"), facts);
  EXPECT_THROW((void)course.train("other", {}), UsageError);
}

TEST(ToyTexts, PhrasesAgreeInGender) {
  Rng random(3);
  for (int i = 0; i < 200; ++i) {
    const auto [english, french] = random_phrase(random);
    EXPECT_EQ(french.find("la chat"), std::string::npos);
    EXPECT_EQ(french.find("un voiture"), std::string::npos);
    if (english.find("black car") != std::string::npos) {
      EXPECT_NE(french.find("voiture noire"), std::string::npos);
    }
  }
  EXPECT_EQ(letters(3), "a b c");
}

}  // namespace
}  // namespace fovea::learning
