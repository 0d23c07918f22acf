// Clients that try to exhaust memory, time or connections.
#include <gmock/gmock.h>
#include <sentencepiece_trainer.h>

#include <chrono>
#include <functional>
#include <thread>

#include "fovea/error.hpp"
#include "server/api/models/translation_model.hpp"
#include "server/http/fields.hpp"
#include "server/serving.hpp"

namespace fovea::server::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

struct Lines final : sentencepiece::SentenceIterator {
  const std::vector<std::string> text = std::vector<std::string>(20, "صلى الله عليه وسلم one two three four");
  std::size_t at = 0;
  [[nodiscard]] bool done() const override { return at == text.size(); }
  void Next() override { ++at; }
  [[nodiscard]] const std::string& value() const override { return text[at]; }
  [[nodiscard]] sentencepiece::util::Status status() const override { return {}; }
};

// A model with a SentencePiece tokenizer that normalises with NFKC.
void write_foreign_model(const std::filesystem::path& folder) {
  Lines lines;
  std::string bytes;
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      {{"vocab_size", "40"}, {"hard_vocab_limit", "false"}, {"minloglevel", "3"}}, &lines, &bytes);
  ASSERT_TRUE(status.ok()) << status.ToString();
  fovea::test::write_text(folder.string() + ".model", bytes);
  Tokenizers tokenizers;
  tokenizers.source = tokenizers.target = load_sentencepiece(folder.string() + ".model");
  ModelConfig config = fovea::test::tiny_rnn();
  config.tokens().vocabulary = config.generator().vocabulary = tokenizers.source->size();
  config.languages = "ar-en";
  Parameters parameters(1);
  const Seq2Seq model(config, parameters);
  std::vector<Tensor> weights;
  for (const auto& entry : parameters.entries()) weights.push_back(entry.weight.value());
  write_model_config(folder, config, tokenizers);
  write_model_weights(folder, parameters, weights);
}

class Hostile : public Serving {
 protected:
  void TearDown() override {
    if (server_) {
      EXPECT_NE(text_of("one two"), "?") << "the server still answers";
    }
  }
  [[nodiscard]] int connections() const {
    const std::string text = ask(port_, "GET", "/metrics").body;
    const std::string name = "\nfovea_connections ";
    return std::stoi(text.substr(text.find(name) + name.size()));
  }
  static bool soon(const std::function<bool()>& is, double seconds) {
    const auto until = Clock::now() + std::chrono::duration<double>(seconds);
    while (!is()) {
      if (Clock::now() > until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
  }
  static std::string half_of(std::size_t bytes) {
    return "POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: " +
           std::to_string(bytes) + "\r\n\r\n{\"q\":\"" + std::string(bytes / 2, 'a');
  }
};

TEST_F(Hostile, AnIncompleteBodyIsFreedWhenItsClientDisconnects) {
  start();
  {
    std::vector<std::unique_ptr<Wire>> leaving;
    for (int i = 0; i < 30; ++i) {
      leaving.push_back(std::make_unique<Wire>(port_));
      leaving.back()->send(half_of(1'900'000));
    }
    EXPECT_TRUE(soon([&] { return options_.http.bodies->held() > 20'000'000; }, 5));
  }
  EXPECT_TRUE(soon([&] { return options_.http.bodies->held() == 0; }, 2)) << "well before the timeout of 30 s";
  EXPECT_TRUE(soon([&] { return connections() <= 2; }, 2));
}

TEST_F(Hostile, StoppingDropsIncompleteRequests) {
  start();
  std::vector<std::unique_ptr<Wire>> half;
  for (int i = 0; i < 20; ++i) {
    half.push_back(std::make_unique<Wire>(port_));
    half.back()->send(half_of(1'900'000));
  }
  Wire idle(port_);
  ASSERT_TRUE(soon([&] { return options_.http.bodies->held() > 10'000'000; }, 5));
  const auto began = Clock::now();
  server_->stop(20);
  EXPECT_LT(Clock::now() - began, std::chrono::seconds(2));
  EXPECT_TRUE(half.front()->closes(1));
  EXPECT_TRUE(idle.closes(1));
  server_.reset();
}

TEST_F(Hostile, BodiesOfAllClientsTogetherAreLimited) {
  options_.http.bodies = std::make_shared<MemoryBudget>(1'000'000);
  options_.http.crowded_seconds = 1;
  start();
  std::vector<std::unique_ptr<Wire>> half;
  for (int i = 0; i < 30; ++i) {
    half.push_back(std::make_unique<Wire>(port_));
    half.back()->send(half_of(200'000));
  }
  EXPECT_TRUE(soon([&] { return options_.http.bodies->held() > 750'000; }, 5));
  EXPECT_LE(options_.http.bodies->held(), 1'000'000);
  EXPECT_EQ(translate({{"q", std::string(90'000, 'a') + std::string(90'000, ' ')}}).status, 429)
      << "the budget is used up";
  EXPECT_TRUE(soon([&] { return options_.http.bodies->held() <= 750'000; }, 4))
      << "slow clients are disconnected when memory is scarce";
}

TEST_F(Hostile, UnreadResponsesAreLimited) {
  options_.http.answers = std::make_shared<MemoryBudget>(24'000'000);
  options_.http.stall_seconds = 1;
  start();
  std::string q;
  std::string request;
  std::size_t size = 0;  // of a response: more than the socket buffers hold
  while (size < 6'000'000) {
    for (int i = 0; i < 10; ++i) q += "one two three four five six seven. ";
    request = request_text("POST", "/attention",
                           nlohmann::json{{"q", q}, {"source", "en"}, {"target", "de"}, {"beam", 1}}.dump());
    Wire one(port_);
    one.send(request);
    const Answer answer = read_answer(one);
    ASSERT_EQ(answer.status, 200) << answer.body.substr(0, 200);
    size = answer.body.size();
  }
  std::vector<std::unique_ptr<Wire>> silent;
  for (int i = 0; i < 12; ++i) {
    silent.push_back(std::make_unique<Wire>(port_));
    silent.back()->send(request);
  }
  std::size_t most = 0;
  const auto until = Clock::now() + std::chrono::seconds(3);
  while (Clock::now() < until) {
    most = std::max(most, options_.http.answers->held());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_GT(most, size);
  EXPECT_LE(most, 24'000'000);
  EXPECT_TRUE(soon([&] { return options_.http.answers->held() == 0; }, 20))
      << "clients that stop reading are disconnected";
}

TEST_F(Hostile, WaitingTextIsLimited) {
  options_.http.answers = std::make_shared<MemoryBudget>(3'000'000);
  options_.api.char_limit = -1;
  start();
  std::string lines;
  while (lines.size() < 40'000) lines += "a\n";
  EXPECT_EQ(translate({{"q", lines}}).status, 429) << "20,000 lines";
  EXPECT_EQ(options_.http.answers->held(), 0);
}

TEST_F(Hostile, WorkForADisconnectedClientIsDropped) {
  options_.api.char_limit = -1;
  start();
  std::string lines;
  while (lines.size() < 400'000) lines += "one two three four five\n";
  {
    Wire leaving(port_);
    leaving.send(
        request_text("POST", "/translate", nlohmann::json{{"q", lines}, {"source", "en"}, {"target", "de"}}.dump()));
    ASSERT_TRUE(soon([&] { return server_->models()->waiting() == 1; }, 5));
  }
  EXPECT_TRUE(soon([&] { return server_->models()->waiting() == 0; }, 5)) << "16,000 lines would take longer";
  EXPECT_TRUE(soon([&] { return options_.http.answers->held() == 0; }, 2));
}

// One response, then the connection ends, without delay.
TEST_F(Hostile, AMalformedRequestHasOneImmediateResponse) {
  start();
  std::string many = "GET /health?a=1";
  for (int i = 0; i < 500; ++i) many += "&b=1";
  const std::string post = "POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
  for (const std::string& bytes : std::vector<std::string>{
           many + " HTTP/1.1\r\nHost: x\r\n\r\n",
           post + "Content-Length: +5\r\n\r\n{\"q\":",
           post + "Content-Length: 5\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
           post + "Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n",
           "GET /health HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
           std::string("GET /health HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n", 42),
           "GET /health HTTP/1.1\r\n\r\n",
           "GET /health HTTP/1.1\nHost: x\n\n",
           "GET /health HTTP/1.1\r\nHost: x\r\nA: " + std::string(50'000, 'b') + "\r\n\r\n",
       }) {
    const auto began = Clock::now();
    Wire wire(port_);
    wire.send(bytes);
    std::string got;
    while (wire.receive(got, 5)) {
    }
    EXPECT_LT(Clock::now() - began, std::chrono::seconds(3)) << bytes.substr(0, 200);
    EXPECT_THAT(got.substr(0, 12), AnyOf("HTTP/1.1 400", "HTTP/1.1 414", "HTTP/1.1 431")) << bytes.substr(0, 200);
    EXPECT_EQ(got.find("HTTP/1.1", 1), std::string::npos) << got;
    EXPECT_THAT(got, HasSubstr("{\"error\":\""));
  }
}

TEST_F(Hostile, FormsWithTooManyFieldsAreRefused) {
  start();
  std::string form = "q=one&source=en&target=de";
  for (int i = 0; i < 200; ++i) form += "&a=1";
  EXPECT_EQ(ask(port_, "POST", "/translate", form, "application/x-www-form-urlencoded").status, 400);
}

TEST_F(Hostile, DeepJsonIsRefusedAndTheServerContinues) {
  start();
  std::string deep = R"({"q":"one","source":"en","target":"de","x":)";
  for (int i = 0; i < 100'000; ++i) deep += "[";
  EXPECT_EQ(ask(port_, "POST", "/translate", deep).error(), "Invalid JSON format");
  std::string file;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "a")) {
    const std::string name = entry.path().filename().string();
    if (name != "config.json" && name != "model.safetensors") file = entry.path().string();
  }
  ASSERT_NE(file, "");
  fovea::test::write_text(file, "{\"format\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}");
  EXPECT_THAT(fovea::test::message_of<FileError>([&] { server_->reload(); }), HasSubstr("nested more than 64 levels"));
}

TEST(Fields, StopReadingWhenTheRequestIsCanceled) {
  std::string body = R"({"x":[0)";
  for (int i = 0; i < 20'000; ++i) body += ",{}";
  Request request;
  request.content_type = "application/json";
  request.body = body + "]}";
  request.canceled = [] { return false; };
  EXPECT_EQ(Fields(request)["x"].size(), 20'001);
  request.canceled = [] { return true; };
  const auto status = [&] {
    try {
      (void)Fields(request);
    } catch (const Refusal& refusal) {
      return refusal.status();
    }
    return 200;
  };
  EXPECT_EQ(status(), 503);
}

TEST_F(Hostile, ALanguageCodeWithANulIsRefused) {
  fovea::test::write_tiny_model(folder_ / "dates", fovea::test::tiny_rnn(), "dates-iso", 3);
  options_.models.push_back(ModelPlace::parse((folder_ / "dates").string()));
  start();
  const auto error = [&](const nlohmann::json& source) {
    const Answer answer = translate({{"q", "one"}, {"source", source}, {"target", "iso"}});
    EXPECT_EQ(answer.status, 400);
    return answer.error();
  };
  EXPECT_EQ(error(std::string("fr-\0x", 5)),
            "Invalid request: source parameter holds a NUL, which no language code has");
  EXPECT_EQ(error("fr-/x"), "Invalid request: source parameter holds a character, which no language code has");
  EXPECT_EQ(error(std::string(1000, 'a')), "Invalid request: source parameter is longer than any language code");
}

// U+FDFA normalises to 18 characters.
TEST_F(Hostile, LinesAreLimitedInTokensToo) {
  write_foreign_model(folder_ / "sp");
  options_.models = {ModelPlace::parse((folder_ / "sp").string())};
  start();
  std::string q;
  for (int i = 0; i < 390; ++i) q += "\xEF\xB7\xBA";
  const TranslationModel& model = *server_->models()->translations()[0];
  ASSERT_GT(model.translator().tokenizers().source->encode(q).size(), 1000) << "more than two tokens per character";
  const Answer answer = translate({{"q", q}, {"source", "ar"}, {"target", "en"}});
  EXPECT_EQ(answer.status, 200) << answer.body.substr(0, 300);
  const Passage passage = Passage::of_text(q, model.reads());
  EXPECT_GT(passage.lines().size(), 2);
  for (const std::string& line : passage.lines()) {
    EXPECT_LE(model.translator().tokenizers().source->encode(line).size(), model.most_tokens());
  }
  server_.reset();
}

}  // namespace
}  // namespace fovea::server::test
