// HTTP/1.1 over TCP or TLS: requests in, responses out. Knows nothing of models.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "server/http/request.hpp"

namespace fovea::server {

class Connection;
class TlsCredentials;
struct ConnectionContext;

struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 5000;  // 0: a free port
  std::size_t body_limit = std::size_t{2} << 20;
  int connections = 4096;     // more wait to be accepted
  int receive_seconds = 30;   // for a whole request, from the start of the connection or the last response
  int send_seconds = 60;      // for a whole response, plus a second for each 256 KiB
  int stall_seconds = 10;     // without progress while a response is sent
  int crowded_seconds = 2;    // instead of these while over three quarters of the connections or the memory are in use
  bool behind_proxy = false;  // the client is the last address of X-Forwarded-For
  std::filesystem::path tls_certificate, tls_key;  // in PEM; both empty: no TLS
  // For all clients together: bodies being received or read, and responses that wait or are being sent.
  std::shared_ptr<MemoryBudget> bodies = std::make_shared<MemoryBudget>(std::size_t{128} << 20);
  std::shared_ptr<MemoryBudget> answers = std::make_shared<MemoryBudget>(std::size_t{384} << 20);
};

struct HttpHandler {
  /// Called with the head of a request. A response given here saves reading the body. May be empty.
  std::function<std::optional<Response>(const Request&)> admit;
  /// Called with the whole request; must not block. An exception is answered with 500.
  std::function<void(const std::shared_ptr<Request>&, const std::shared_ptr<Reply>&)> handle;
};

/// Serves all connections from one thread: a slow client costs memory, never a thread.
class HttpServer {
 public:
  /// Listens and answers at once. Throws UsageError for an invalid host, FileError for an unusable certificate or key,
  /// Error when the port is taken.
  HttpServer(const HttpOptions& options, HttpHandler handler);
  /// Stops without waiting.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] int connections() const { return count_; }
  /// Reads the certificate and key again, for new connections. Throws FileError and keeps the old ones.
  void reload();
  /// Accepts no more connections, drops incomplete requests, and waits until all others are answered or `seconds`
  /// have passed.
  void drain(int seconds);

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  void accept();
  void listen_again();
  void sweep(Clock::time_point now);
  void watch(int operation, int file, std::uint32_t events, std::uint64_t name) const;
  template <class Do>
  void with(std::uint64_t id, const Do& act);
  [[nodiscard]] std::vector<std::uint64_t> ids() const;
  [[nodiscard]] bool quitting();
  [[nodiscard]] std::shared_ptr<const TlsCredentials> tls();

  const std::unique_ptr<ConnectionContext> context_;
  const std::size_t limit_;
  std::shared_ptr<const TlsCredentials> tls_;
  int listener_;  // -1 once the server stops
  const int port_;
  const int epoll_;
  bool full_ = false;  // no connection is accepted until one ends
  std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  std::uint64_t last_id_;
  std::atomic<int> count_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false, quit_ = false, stopped_ = false, idle_ = false;
  std::thread thread_;
};

}  // namespace fovea::server
