// Concurrent requests, and models that are reloaded meanwhile.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "fovea/error.hpp"
#include "server/serving.hpp"

namespace fovea::server::test {
namespace {

using testing::HasSubstr;

class Batches : public Serving {};

std::string sentence(int i) {
  static const std::vector<std::string> words{"one", "two", "three", "four", "five", "six"};
  std::string text;
  for (int k = 0; k <= i % 9; ++k)
    text += (k > 0 ? " " : "") + words[static_cast<std::size_t>(i * 7 + k * k) % words.size()];
  return text;
}

TEST_F(Batches, AResponseDoesNotDependOnOtherRequests) {
  start();
  constexpr int kClients = 8;
  constexpr int kEach = 12;
  std::vector<std::string> alone;
  alone.reserve(kClients * kEach);
  for (int i = 0; i < kClients * kEach; ++i) alone.push_back(text_of(sentence(i)));
  std::vector<std::string> together(alone.size());
  std::vector<std::thread> clients;
  clients.reserve(kClients);
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([&, c] {
      for (int i = c * kEach; i < (c + 1) * kEach; ++i) together[static_cast<std::size_t>(i)] = text_of(sentence(i));
    });
  }
  for (auto& client : clients) client.join();
  EXPECT_EQ(alone, together);
}

TEST_F(Batches, ALongTextDoesNotDelayAShortOne) {
  start();
  std::string lines;
  for (int i = 0; i < 600; ++i) lines += sentence(i) + "\n";
  std::atomic<bool> long_done{false};
  std::thread slow([&] {
    EXPECT_EQ(translate({{"q", lines}}).status, 200);
    long_done = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_NE(text_of("one two"), "?");
  EXPECT_FALSE(long_done);
  slow.join();
}

TEST_F(Batches, AFullQueueAnswersWithRetryAfter) {
  options_.most_waiting = 1;
  start();
  std::string lines;
  for (int i = 0; i < 300; ++i) lines += sentence(i) + "\n";
  const std::string body = nlohmann::json{{"q", lines}, {"source", "en"}, {"target", "de"}}.dump();
  std::vector<std::unique_ptr<Wire>> wires;
  for (int i = 0; i < 8; ++i) {
    wires.push_back(std::make_unique<Wire>(port_));
    wires.back()->send(request_text("POST", "/translate", body));
  }
  int refused = 0;
  int answered = 0;
  for (auto& wire : wires) {
    const Answer answer = read_answer(*wire);
    if (answer.status == 429) {
      ++refused;
      EXPECT_EQ(answer.header("Retry-After"), "1");
      EXPECT_THAT(answer.error(), HasSubstr("Slowdown:"));
    } else {
      EXPECT_EQ(answer.status, 200);
      ++answered;
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(answered, 0);
  EXPECT_EQ(translate({{"q", "one"}}).status, 200);
}

TEST_F(Batches, ReloadingDropsNoRequest) {
  start();
  std::atomic<bool> stop{false};
  std::atomic<int> good{0};
  std::atomic<int> bad{0};
  std::vector<std::thread> clients;
  clients.reserve(4);
  for (int c = 0; c < 4; ++c) {
    clients.emplace_back([&, c] {
      for (int i = c; !stop; ++i) ++(translate({{"q", sentence(i)}}).status == 200 ? good : bad);
    });
  }
  for (int i = 0; i < 5; ++i) server_->reload();
  const std::string before = text_of("one two three four");
  fovea::test::write_tiny_model(folder_ / "a", fovea::test::tiny_transformer(), "en-de", 77);
  server_->reload();
  const std::string after = text_of("one two three four");
  stop = true;
  for (auto& client : clients) client.join();
  EXPECT_EQ(bad, 0);
  EXPECT_GT(good, 0);
  EXPECT_NE(before, after) << "the new weights are in use";
}

TEST_F(Batches, AnUnreadableModelLeavesTheOldOneInUse) {
  start();
  const std::string before = text_of("one two");
  fovea::test::write_text(folder_ / "a" / "config.json", "{");
  EXPECT_THAT(fovea::test::message_of<FileError>([&] { server_->reload(); }), HasSubstr("config.json"));
  EXPECT_EQ(text_of("one two"), before);
}

TEST_F(Batches, StoppingFinishesCompleteRequests) {
  start();
  std::string lines;
  for (int i = 0; i < 400; ++i) lines += sentence(i) + "\n";
  Wire busy(port_);
  busy.send(
      request_text("POST", "/translate", nlohmann::json{{"q", lines}, {"source", "en"}, {"target", "de"}}.dump()));
  // The first request is running once a later one has its response.
  ASSERT_NE(text_of("one"), "?");
  std::thread stopper([&] { server_->stop(20); });
  const Answer answer = read_answer(busy);
  stopper.join();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("Connection"), "close");
  EXPECT_THROW(Wire{port_}, std::runtime_error);
}

TEST_F(Batches, DestructionFailsWaitingRequests) {
  options_.api.char_limit = -1;
  start();
  std::string lines;
  for (int i = 0; i < 20000; ++i) lines += sentence(i) + "\n";
  const std::string body = nlohmann::json{{"q", lines}, {"source", "en"}, {"target", "de"}}.dump();
  Wire busy(port_);
  busy.send(request_text("POST", "/translate", body));
  while (server_->models()->waiting() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto began = std::chrono::steady_clock::now();
  std::thread ender([&] { server_.reset(); });
  const Answer answer = read_answer(busy);
  ender.join();
  EXPECT_EQ(answer.status, 500);
  EXPECT_THAT(answer.error(), HasSubstr("the server is stopping"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

TEST_F(Batches, TwoModelsForOnePairAreRefused) {
  options_.models.push_back(ModelPlace::parse("en-de=" + (folder_ / "b").string()));
  EXPECT_THAT(fovea::test::message_of<UsageError>([&] { start(); }), HasSubstr("two models translate en-de"));
}

}  // namespace
}  // namespace fovea::server::test
