// HTTP/1.1 over TCP or TLS: requests in, responses out, from any thread. Knows nothing of models.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/http/memory_budget.hpp"

namespace fovea::server {

struct Request {
  std::string method;
  std::string path;                                        // decoded, without the query
  std::vector<std::pair<std::string, std::string>> query;  // decoded
  std::string content_type;                                // as it was sent
  std::string body;
  std::string client;                   // its address, or what a trusted proxy said it is
  bool too_large = false;               // the body was longer than the limit, and is not here
  MemoryReservation memory = {};        // of the body
  std::function<bool()> canceled = {};  // whether its answer is not needed any more; may be empty

  /// Whoever has read the body gives its memory back.
  void forget_body() {
    body = {};
    memory.release();
  }
};

struct Response {
  int status = 200;
  std::string body = {};
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};
  MemoryReservation memory = {};  // of the body, where it was accounted for before it was written
};

/// Where the answer to one request goes, from any thread; the first one counts.
class Reply {
 public:
  virtual ~Reply() = default;
  /// An answer for which there is no memory left becomes 503.
  virtual void with(Response response) = 0;
  /// Whether nobody waits for the answer any more.
  [[nodiscard]] virtual bool gone() const = 0;
};

struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 5000;  // 0: one that is free
  std::size_t body_limit = std::size_t{2} << 20;
  int connections = 4096;     // more wait to be accepted
  int receive_seconds = 30;   // until a request is here, from the connection's start or the last answer
  int send_seconds = 60;      // until an answer has been taken, and a second more for each 256 KiB
  int stall_seconds = 10;     // that an answer's client may take nothing at all
  int crowded_seconds = 2;    // instead of all these while three quarters of the connections or the memory are in use
  bool behind_proxy = false;  // the client is the last address of X-Forwarded-For
  std::filesystem::path tls_certificate, tls_key;  // in PEM; both empty: no TLS
  // Bytes held for all clients: bodies that come or wait to be read, and answers that wait or are sent.
  std::shared_ptr<MemoryBudget> bodies = std::make_shared<MemoryBudget>(std::size_t{128} << 20);
  std::shared_ptr<MemoryBudget> answers = std::make_shared<MemoryBudget>(std::size_t{384} << 20);
};

struct HttpHandler {
  /// Called when the head of a request is here: an answer given now saves reading the body. May be empty.
  std::function<std::optional<Response>(const Request&)> admit;
  /// Called with the whole request; must not block. What it throws is answered with 500.
  std::function<void(const std::shared_ptr<Request>&, const std::shared_ptr<Reply>&)> handle;
};

/// One thread for all connections; a client that is slow costs memory, never a thread.
class HttpServer {
 public:
  /// Listens and answers at once. Throws UsageError for a host that cannot be, FileError for a certificate or key that
  /// cannot be used, Error when the port is taken.
  HttpServer(const HttpOptions& options, HttpHandler handler);
  /// Stops without waiting.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] int port() const;
  [[nodiscard]] int connections() const;
  /// Reads certificate and key again, for connections to come. Throws FileError, and keeps those it had.
  void reload();
  /// Takes no more connections, drops requests that are not whole, and waits until all others have been answered or
  /// `seconds` have passed.
  void drain(int seconds);

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace fovea::server
