// POST /chat.
#include <gmock/gmock.h>

#include "fovea/chat.hpp"
#include "server/serving.hpp"

namespace fovea::server::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class ChatServed : public Serving {
 protected:
  void SetUp() override {
    Serving::SetUp();
    fovea::test::write_tiny_chat(folder_ / "talk");
    fovea::test::write_tiny_chat(folder_ / "deep", Turns::hierarchical);
    options_.models.push_back(ModelPlace::parse((folder_ / "talk").string()));
    options_.models.push_back(ModelPlace::parse((folder_ / "deep").string()));
    start();
  }
  [[nodiscard]] Answer chat(const nlohmann::json& body) const { return post(port_, "/chat", body); }
};

TEST_F(ChatServed, TheReplyMatchesTheModel) {
  for (const char* name : {"talk", "deep"}) {
    Chat direct(folder_ / name);
    const std::string first = direct.reply("one two");
    const std::string second = direct.reply("three");
    const auto answer = chat({{"turns", {"one two", first, "three"}}, {"model", name}, {"attention", true}}).json();
    EXPECT_EQ(answer["reply"], second);
    EXPECT_EQ(answer["model"], name);
    const std::size_t tokens = direct.last().attention.target.size();
    EXPECT_THAT(answer["attention"]["target"], SizeIs(tokens));
    EXPECT_THAT(answer["attention_over_turns"], SizeIs(tokens));
    EXPECT_THAT(answer["attention_over_turns"][0], SizeIs(first.empty() ? 2 : 3));
    EXPECT_FALSE(chat({{"turns", {"one"}}}).json().contains("attention")) << "it was not requested";
  }
}

TEST_F(ChatServed, OldTurnsAreDropped) {
  const auto all = chat({{"turns", {"six", "five", "four", "three", "two"}}}).json();
  EXPECT_EQ(all["reply"], chat({{"turns", {"four", "three", "two"}}}).json()["reply"]);
}

TEST_F(ChatServed, ErrorsNameTheMistake) {
  EXPECT_THAT(chat({{"turns", nlohmann::json::array()}}).error(), HasSubstr("missing turns"));
  EXPECT_THAT(chat({{"turns", {"one", " "}}}).error(), HasSubstr("missing turns"));
  EXPECT_THAT(chat({{"turns", {1}}}).error(), HasSubstr("not an array of strings"));
  EXPECT_THAT(chat({{"turns", 3}}).error(), HasSubstr("not an array of strings"));
  EXPECT_THAT(chat({{"turns", {"one"}}, {"model", "none"}}).error(), HasSubstr("talk, deep"));
  std::string longer;
  for (int i = 0; i < 1100; ++i) longer += "one ";
  EXPECT_THAT(chat({{"turns", {longer}}}).error(), HasSubstr("reads up to 1024"));
}

}  // namespace
}  // namespace fovea::server::test
