// A server with two tiny models on a free port.
#pragma once

#include <gmock/gmock.h>

#include "server/client.hpp"
#include "server/server.hpp"
#include "support/scratch.hpp"
#include "support/tiny_model.hpp"

namespace fovea::server::test {

class Serving : public ::testing::Test {
 protected:
  void SetUp() override {
    fovea::test::write_tiny_model(folder_ / "a", fovea::test::tiny_transformer(), "en-de", 1);
    fovea::test::write_tiny_model(folder_ / "b", fovea::test::tiny_rnn(), "de-en", 2);
    options_.models = {ModelPlace::parse((folder_ / "a").string()), ModelPlace::parse((folder_ / "b").string())};
    options_.http.port = 0;
  }

  void start() {
    server_.emplace(options_);
    port_ = server_->port();
  }
  [[nodiscard]] Answer translate(nlohmann::json body) const {
    for (const auto& [name, value] : {std::pair{"source", "en"}, std::pair{"target", "de"}}) {
      if (!body.contains(name)) body[name] = value;
    }
    return post(port_, "/translate", body);
  }
  [[nodiscard]] std::string text_of(const std::string& q) const {
    return translate({{"q", q}}).json().value("translatedText", "?");
  }

  fovea::test::Scratch folder_;
  ServerOptions options_;
  std::optional<Server> server_;
  int port_ = 0;
};

}  // namespace fovea::server::test
