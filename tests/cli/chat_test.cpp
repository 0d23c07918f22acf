// fovea train --task chat, fovea chat, and what fovea run makes of turns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/small_training.hpp"
#include "fovea/chat.hpp"
#include "fovea/error.hpp"

namespace fovea {
namespace {

using test::Ran;
using test::run_cli;
using testing::HasSubstr;

class ChatCommand : public test::SmallTraining {
 protected:
  // The reply to the last turn depends on the first one.
  void SetUp() override {
    std::string source, target;
    for (int i = 0; i < 120; ++i) {
      source += i % 2 == 0 ? "red\tand now\twhich\n" : "blue\tand now\twhich\n";
      target += i % 2 == 0 ? "it was red\n" : "it was blue\n";
    }
    folder_.write("train.source", source);
    folder_.write("train.target", target);
    folder_.write("valid.source", "red\tand now\twhich\n");
    folder_.write("valid.target", "it was red\n");
  }

  [[nodiscard]] std::vector<std::string> talking(const std::string& model, std::vector<std::string> more,
                                                 const std::string& steps = "160") const {
    // clang-format off
    more.insert(more.end(), {"--task", "chat", "--dropout", "0", "--max-steps", steps, "--batch-tokens", "256",
                             "--checkpoint-every", steps, "--learning-rate", "0.01"});
    // clang-format on
    return train(model, more);
  }
};

TEST_F(ChatCommand, EveryKindRepliesInContext) {
  const std::vector<std::vector<std::string>> kinds{
      {"--preset", "rnn-bahdanau"}, {"--arch", "cnn", "--max-positions", "300"}, {"--arch", "transformer"}};
  for (const auto& kind : kinds) {
    for (const char* turns : {"flat", "hierarchical"}) {
      SCOPED_TRACE(kind[1] + " " + turns);
      const std::string model = kind[1] + turns;
      auto options = kind;
      options.insert(options.end(), {"--turns", turns});
      const Ran trained = run_cli(talking(model, options));
      ASSERT_EQ(trained.code, 0) << trained.err;
      const Ran ran = run_cli({"run", "--model", file(model), "--attention", file("a.jsonl")},
                              "red\tand now\twhich\n\nblue\tand now\twhich\n");
      EXPECT_EQ(ran.out, "it was red\n\nit was blue\n");
      const std::string lines = folder_.read("a.jsonl");
      const auto record = nlohmann::json::parse(lines.substr(0, lines.find('\n')));
      EXPECT_EQ(record["source"], nlohmann::json({"red", "<s>", "and", "now", "<s>", "which", "</s>"}));
      // Alone as in a batch with longer lines.
      const Ran alone = run_cli({"run", "--model", file(model), "--scores"}, "blue\tand now\twhich\n");
      const Ran together = run_cli({"run", "--model", file(model), "--scores"},
                                   "blue\tand now\twhich\nred red red\tand now which\tred\tnow\twhich which\n");
      EXPECT_EQ(alone.out, together.out.substr(0, alone.out.size()));
      if (kind[1] == "transformer") {
        EXPECT_EQ(run_cli({"run", "--model", file(model), "--kind", "all", "--attention", file("b.jsonl")},
                          "red\tand now\twhich\n")
                      .code,
                  0);
      }
    }
  }
}

TEST_F(ChatCommand, AConversationIsKeptUntilItIsReset) {
  ASSERT_EQ(run_cli(talking("m", {"--preset", "rnn-bahdanau", "--copy"}, "4")).code, 0);
  const Ran ran = run_cli({"chat", "--model", file("m")},
                          "/attention\nred\nwhich\n/attention\n/what\n/reset\n/attention\n/quit\nred\n");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, testing::StartsWith("there is no reply yet\n"));
  EXPECT_THAT(ran.out, HasSubstr("%  red\n"));
  EXPECT_THAT(ran.out, HasSubstr("%  which\n"));
  EXPECT_THAT(ran.out, testing::EndsWith("there is no reply yet\n"));
  EXPECT_THAT(ran.err, HasSubstr("\"/what\" is not one of /attention, /reset, /quit"));

  Chat chat(file("m"));
  const std::string first = chat.reply("red");
  EXPECT_EQ(chat.reply(" \t "), "");
  const std::string second = chat.reply("and\nnow");
  EXPECT_EQ(chat.turns(), (std::vector<std::string>{"red", first, "and now", second}));
  const Translator translator(file("m"));
  EXPECT_EQ(second, translator
                        .translate(turns_line(std::vector<std::string>{"red", first, "and now"}),
                                   {.max_length = 60, .no_repeat_ngram = 3})
                        .text);
  ASSERT_TRUE(chat.last().attention.has_weights());
  const AttentionMatrix by_turn = attention_over_turns(chat.last().attention);
  ASSERT_EQ(by_turn.columns, first.empty() ? 2 : 3);
  for (std::int64_t r = 0; r < by_turn.rows; ++r) {
    const auto row = by_turn.values.begin() + r * by_turn.columns;
    EXPECT_NEAR(std::accumulate(row, row + by_turn.columns, 0.0F), 1, 1e-4);
  }
  chat.reset();
  EXPECT_TRUE(chat.turns().empty());
  EXPECT_EQ(chat.reply("red"), first);
}

TEST_F(ChatCommand, ATrainingGoesOnByteForByteWhateverTheThreads) {
  for (const char* turns : {"flat", "hierarchical"}) {
    const auto options = [&](const std::string& threads) {
      return std::vector<std::string>{"--arch",     "transformer", "--turns",   turns,
                                      "--replicas", "2",           "--threads", threads};
    };
    const std::string name = turns;
    ASSERT_EQ(run_cli(talking(name + "whole", options("1"), "6")).code, 0);
    ASSERT_EQ(run_cli(talking(name + "parts", options("2"), "4")).code, 0);
    auto more = talking(name + "parts", options("2"), "6");
    more.emplace_back("--resume");
    ASSERT_EQ(run_cli(more).code, 0);
    EXPECT_EQ(weights(name + "whole"), weights(name + "parts"));
  }
}

TEST_F(ChatCommand, WhatDoesNotGoTogetherIsRefused) {
  expect_error(train("n", {"--turns", "flat"}), 2, "--turns: has no effect here; it belongs to: task chat");
  expect_error(train("n", {"--max-turns", "3"}), 2, "--max-turns: has no effect here; it belongs to: task chat");
  expect_error(talking("n", {"--turns", "deep"}), 2, "flat, hierarchical");
  expect_error(talking("n", {"--max-turns", "0"}), 2, "--max-turns: must be from 1 to 1000, is 0");
  ASSERT_EQ(run_cli(train("plain", {"--preset", "rnn-bahdanau", "--max-steps", "1"})).code, 0);
  expect_error({"chat", "--model", file("plain")}, 2, "is of the task generate, not chat");
  expect_error({"run", "--model", file("plain"), "--repetition-penalty", "0.5"}, 2, "--repetition-penalty: 0.5");
  expect_error({"chat", "--model", file("none")}, 1, "no such model folder");
}

}  // namespace
}  // namespace fovea
