// One client's connection: its requests one after the other, and their responses.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "server/http/http_server.hpp"
#include "server/http/outbox.hpp"
#include "server/http/parser.hpp"
#include "server/http/stream.hpp"

namespace fovea::server {

/// What all connections of a server share.
struct ConnectionContext {
  const HttpOptions options;
  const HttpHandler handler;
  const std::shared_ptr<Outbox> outbox = std::make_shared<Outbox>();
  bool stopping = false;                                          // each response is the last of its connection
  std::string buffer = std::string(std::size_t{64} << 10, '\0');  // to read into
};

class Connection {
 public:
  using Clock = std::chrono::steady_clock;

  enum class Phase {
    receiving,  // a request, or nothing yet
    working,    // on a whole request
    sending,    // the response
    lingering,  // the response is sent; further input is discarded, since closing now could lose the response
    over,
  };

  Connection(ConnectionContext& context, std::uint64_t id, int socket, std::shared_ptr<const TlsCredentials> tls,
             std::string client);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Handles what epoll reports.
  void handle(std::uint32_t events);
  /// Sends a response; the connection is working.
  void answer(Outbox::Answer answer);
  /// Ends the connection after its timeout.
  void check_time(Clock::time_point now, bool crowded);
  /// The server stops: an incomplete request is dropped.
  void stop();

  [[nodiscard]] std::uint32_t interest() const;  // for epoll
  [[nodiscard]] Phase phase() const { return phase_; }
  [[nodiscard]] int socket() const { return stream_.socket(); }

  std::uint32_t registered = 0;  // events that epoll watches

 private:
  void enter(Phase phase);
  void read();
  void take(std::string_view in);
  void begin();
  void store(std::string_view piece);
  void hand_over();
  void refuse();
  void send();
  void finish_answer();

  ConnectionContext& context_;
  const std::uint64_t id_;
  Stream stream_;
  const std::string address_;
  Phase phase_ = Phase::receiving;
  Clock::time_point since_ = Clock::now();     // start of the phase
  Clock::time_point progress_ = Clock::now();  // when the client last accepted part of a response

  RequestParser parser_;
  std::string rest_;  // bytes that follow the current request
  MemoryReservation rest_memory_;
  std::shared_ptr<Request> request_;
  std::size_t received_ = 0;         // of the body
  std::optional<Response> refusal_;  // the response to a request whose body is discarded
  std::shared_ptr<Exchange> exchange_;
  bool last_ = false;  // the connection ends after the next response

  std::string head_;  // of the response
  Outbox::Answer out_{0, {}};
  std::size_t sent_ = 0;  // of head and body
  bool without_body_ = false;
};

}  // namespace fovea::server
