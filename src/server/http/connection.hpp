// One client's connection: its requests one after the other, and their answers.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "server/http/outbox.hpp"
#include "server/http/parser.hpp"
#include "server/http/stream.hpp"

namespace fovea::server {

class Connection {
 public:
  using Clock = std::chrono::steady_clock;

  /// What all connections of a server share.
  struct Server {
    const HttpOptions options;
    const HttpHandler handler;
    const std::shared_ptr<Outbox> outbox = std::make_shared<Outbox>();
    bool stopping = false;                                          // each answer is the last of its connection
    std::string buffer = std::string(std::size_t{64} << 10, '\0');  // to read into
  };
  enum class Phase {
    receiving,  // a request, or nothing yet
    working,    // the request is whole, its answer is not there
    sending,
    lingering,  // the answer is sent: what still comes is thrown away, so that it is not lost on its way
    over,
  };

  Connection(Server& server, std::uint64_t id, int socket, std::shared_ptr<const TlsCredentials> tls,
             std::string client);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Goes on with what epoll saw.
  void handle(std::uint32_t events);
  /// Sends an answer; the connection is working.
  void answer(Outbox::Answer answer);
  /// Ends the connection if it has had its time.
  void check_time(Clock::time_point now, bool crowded);
  /// The server stops: a request that is not here yet is dropped.
  void stop();

  [[nodiscard]] std::uint32_t interest() const;  // for epoll
  [[nodiscard]] Phase phase() const { return phase_; }
  [[nodiscard]] int socket() const { return stream_.socket(); }

  std::uint32_t registered = 0;  // what epoll has been told

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

  Server& server_;
  const std::uint64_t id_;
  Stream stream_;
  const std::string address_;
  Phase phase_ = Phase::receiving;
  Clock::time_point since_ = Clock::now();     // in this phase
  Clock::time_point progress_ = Clock::now();  // when the client last took part of an answer

  RequestParser parser_;
  std::string rest_;  // bytes behind the request that is being answered
  MemoryReservation rest_memory_;
  std::shared_ptr<Request> request_;
  std::size_t received_ = 0;         // of the body
  std::optional<Response> refusal_;  // what the request will be answered with: its body is not kept
  std::shared_ptr<Exchange> exchange_;
  bool last_ = false;  // the connection ends with the next answer

  std::string head_;  // of the answer
  Outbox::Answer out_{0, {}};
  std::size_t sent_ = 0;  // of head and body
  bool without_body_ = false;
};

}  // namespace fovea::server
