// `fovea serve`: models behind HTTP.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "server/api/api.hpp"
#include "server/api/models/models.hpp"
#include "server/http/access.hpp"
#include "server/http/http_server.hpp"

namespace fovea::server {

struct ServerOptions {
  std::vector<ModelPlace> models;
  HttpOptions http;
  ApiOptions api;
  AccessOptions access;
  int most_waiting = 512;  // requests in the queue of a model; more are answered 429
};

class Server {
 public:
  /// Loads the models and starts to answer. Throws FileError, UsageError or Error.
  explicit Server(const ServerOptions& options);
  /// Stops at once; only running batches are finished.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] int port() const { return http_->port(); }
  [[nodiscard]] std::shared_ptr<const Models> models() const { return api_->models(); }

  /// Reloads models and keys; running requests finish with the old ones. When loading throws, the old ones stay.
  void reload();
  /// Accepts no more connections and answers complete requests, for at most `seconds`.
  void stop(int seconds);

 private:
  const ServerOptions options_;
  Metrics metrics_;
  Access access_;
  // Replaced models that still decode lines; each is closed by a thread of its own.
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
