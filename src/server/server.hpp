// `fovea serve`: models behind HTTP.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "server/api/api.hpp"
#include "server/api/models/models.hpp"
#include "server/http/access.hpp"
#include "server/http/http.hpp"

namespace fovea::server {

struct ServerOptions {
  std::vector<ModelPlace> models;
  HttpOptions http;
  ApiOptions api;
  AccessOptions access;
  int most_waiting = 512;  // requests that wait for one model; more are answered 429
};

class Server {
 public:
  /// Loads the models and answers from then on. Throws FileError, UsageError or Error.
  explicit Server(const ServerOptions& options);
  /// Stops at once, finishing only what the models are at.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] int port() const { return http_->port(); }
  [[nodiscard]] std::shared_ptr<const Models> models() const { return api_->models(); }

  /// Reads models and keys again; requests under way finish with what they began with. Throws what loading throws, and
  /// then serves on with what it had.
  void reload();
  /// Takes no more connections and answers what is here; gives up after `seconds`.
  void stop(int seconds);

 private:
  const ServerOptions options_;
  Metrics metrics_;
  Access access_;
  // Models that were replaced and still have lines to decode; each closes on a thread of its own and is gone then.
  struct Retired {
    std::weak_ptr<Models> models;
    std::thread closing;
  };
  void forget_retired(bool all);

  std::vector<Retired> retired_;
  std::unique_ptr<Api> api_;
  std::unique_ptr<HttpServer> http_;
  std::atomic<const HttpServer*> listening_ = nullptr;
};

}  // namespace fovea::server
