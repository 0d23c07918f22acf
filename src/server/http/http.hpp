// HTTP/1.1 over TCP: requests in, responses out, from any thread. Knows nothing of models.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fovea::server {

struct Request {
  std::string method;
  std::string path;                                        // decoded, without the query
  std::vector<std::pair<std::string, std::string>> query;  // decoded
  std::string content_type;                                // as it was sent
  std::string body;
  std::string client;      // its address, or what a trusted proxy said it is
  bool too_large = false;  // the body was longer than the limit, and is not here
};

struct Response {
  int status = 200;
  std::string body;
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};
};

/// Where the answer to one request goes. Exactly one answer is given, from any thread; `make` runs on the server's own.
class Reply {
 public:
  virtual ~Reply() = default;
  virtual void with(std::function<Response()> make) = 0;
};

struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 5000;  // 0: one that is free
  std::size_t body_limit = std::size_t{2} << 20;
  int connections = 4096;     // more wait to be accepted
  int receive_seconds = 30;   // until a request is here, from the connection's start or the last answer
  int send_seconds = 60;      // until an answer has been taken
  int crowded_seconds = 2;    // instead of receive_seconds while three quarters of the connections are in use
  bool behind_proxy = false;  // the client is the last address of X-Forwarded-For
};

/// One thread for all connections; a client that is slow costs memory, never a thread.
class HttpServer {
 public:
  using Handler = std::function<void(const std::shared_ptr<const Request>&, const std::shared_ptr<Reply>&)>;

  /// Listens and answers at once. The handler must not block; what it throws is answered with 500. Throws UsageError
  /// for a host that cannot be, Error when the port is taken.
  HttpServer(const HttpOptions& options, Handler handler);
  /// Stops without waiting.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] int port() const;
  [[nodiscard]] int connections() const;
  /// Takes no more connections, and waits until every request that is here has been answered or `seconds` have passed.
  void drain(int seconds);

 private:
  class Daemon;
  std::unique_ptr<Daemon> daemon_;
};

}  // namespace fovea::server
