// The course over HTTP: trains lessons on demand, one at a time, if it is served.
#include <gmock/gmock.h>

#include "server/serving.hpp"

namespace fovea::server::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class Learning : public ::testing::Test {
 protected:
  void start(bool learn) {
    options_.http.port = 0;
    options_.api.learn = learn;
    server_.emplace(options_);
    port_ = server_->port();
  }
  [[nodiscard]] Answer train(const std::string& lesson) const {
    return post(port_, "/learn/train", {{"lesson", lesson}});
  }
  [[nodiscard]] Answer ask_lesson(const std::string& lesson, const nlohmann::json& question) const {
    return post(port_, "/learn/ask", {{"lesson", lesson}, {"question", question}});
  }

  ServerOptions options_;  // no models: the course needs none
  std::optional<Server> server_;
  int port_ = 0;
};

TEST_F(Learning, IsNotFoundUnlessItIsServed) {
  start(false);
  EXPECT_EQ(train("qkv").status, 404);
  EXPECT_EQ(ask_lesson("qkv", {{"text", "a"}}).status, 404);
  EXPECT_EQ(ask(port_, "GET", "/learn").status, 404);
  EXPECT_EQ(ask(port_, "GET", "/frontend/settings").json()["fovea"]["learn"], false);
}

TEST_F(Learning, TrainsALessonOnceAndAnswers) {
  start(true);
  EXPECT_EQ(ask(port_, "GET", "/frontend/settings").json()["fovea"]["learn"], true);
  EXPECT_THAT(ask_lesson("qkv", {{"text", "看小猫，它好可爱"}}).error(), HasSubstr("qkv is not trained"));
  const auto facts = train("qkv").json();
  EXPECT_GT(facts["right"], 0.9);
  EXPECT_EQ(train("qkv").json(), facts) << "the result is kept";
  EXPECT_THAT(ask(port_, "GET", "/learn").json()["trained"], ElementsAre("qkv"));
  const auto answer = ask_lesson("qkv", {{"text", "小猫在桌子旁边，它好结实"}}).json();
  EXPECT_THAT(answer["words"], ElementsAre("小猫", "在", "桌子", "旁边", "，", "它", "好", "结实"));
  EXPECT_EQ(answer["guesses"][0]["text"], "桌子");
}

TEST_F(Learning, RefusesInvalidQuestions) {
  start(true);
  EXPECT_THAT(train("nothing").error(), HasSubstr("\"nothing\" is not one of fixed, steps, qkv, heads, encoders"));
  ASSERT_EQ(train("heads").status, 200);
  const auto wrong = [&](const nlohmann::json& question) {
    const Answer answer = ask_lesson("heads", question);
    EXPECT_EQ(answer.status, 400) << question;
    return answer.error();
  };
  EXPECT_THAT(wrong(nullptr), HasSubstr("text: is required and must be a text"));
  EXPECT_THAT(wrong({{"text", 7}}), HasSubstr("text: is required and must be a text"));
  EXPECT_THAT(wrong({{"text", " "}}), HasSubstr("text: must not be empty"));
  EXPECT_THAT(wrong({{"text", std::string(201, 'a')}}), HasSubstr("at most 200"));
  EXPECT_THAT(wrong({{"text", "a b c d e a b c d e a b c d e a b c d e a b c d e"}}), HasSubstr("at most 24"));
  EXPECT_THAT(wrong({{"text", "a b"}, {"heads", 3}}), HasSubstr("heads: must be 1, 2 or 4"));
  EXPECT_THAT(wrong({{"text", "a b"}, {"heads", "2"}}), HasSubstr("heads: must be 1, 2 or 4"));
  EXPECT_THAT(wrong({{"text", "a b"}, {"heads", 2}, {"silent", {2}}}), HasSubstr("silent: must be heads from 0 to 1"));
  EXPECT_THAT(wrong({{"text", "a b"}, {"heads", 2}, {"silent", 1}}), HasSubstr("silent: must be a list"));
  EXPECT_EQ(ask(port_, "POST", "/learn/ask", "{\"lesson\":\"heads\",\"question\":{\"text\":\"a \xff\"}}").status, 400);
}

TEST_F(Learning, ATrainingEndsWhenItsClientDisconnects) {
  start(true);
  {
    Wire wire(port_);
    wire.send(request_text("POST", "/learn/train", R"({"lesson":"fixed"})"));
    for (int tries = 0; tries < 500 && ask(port_, "GET", "/learn").json()["training"].is_null(); ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ASSERT_EQ(ask(port_, "GET", "/learn").json()["training"]["lesson"], "fixed");
  }
  auto state = ask(port_, "GET", "/learn").json();
  for (int tries = 0; tries < 500 && !state["training"].is_null(); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    state = ask(port_, "GET", "/learn").json();
  }
  EXPECT_TRUE(state["training"].is_null());
  EXPECT_THAT(state["trained"], SizeIs(0)) << "an unfinished training is discarded";
}

TEST_F(Learning, NeedsTheApiKey) {
  const fovea::test::Scratch folder;
  std::ofstream(folder / "keys") << "secret\n";
  options_.access.keys = folder / "keys";
  start(true);
  EXPECT_EQ(train("qkv").status, 400) << "no key";
  EXPECT_EQ(post(port_, "/learn/train", {{"lesson", "qkv"}, {"api_key", "wrong"}}).status, 403);
  EXPECT_EQ(post(port_, "/learn/train", {{"lesson", "qkv"}, {"api_key", "secret"}}).status, 200);
}

TEST_F(Learning, IsRefusedWhenTheMemoryIsUsedUp) {
  options_.http.answers = std::make_shared<MemoryBudget>(std::size_t{8} << 20);
  start(true);
  EXPECT_EQ(train("qkv").status, 503);
}

}  // namespace
}  // namespace fovea::server::test
