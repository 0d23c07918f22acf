// When a connection has had its time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace fovea::server {

/// Closes connections that take too long, whatever they are doing: a client that sends a byte every few seconds is
/// never idle, and yet never done. Closing means shutting the socket down, so that its owner sees an end and cleans up.
class Deadlines {
 public:
  struct Options {
    int receive_seconds;
    int send_seconds;
    int crowded_seconds;  // instead of receive_seconds when more than `crowd` are open
    int crowd;
  };
  explicit Deadlines(const Options& options);
  ~Deadlines();
  Deadlines(const Deadlines&) = delete;
  Deadlines& operator=(const Deadlines&) = delete;

  // A connection is named by any address of its own.
  void opened(const void* connection, int socket);
  void closed(const void* connection);     // before the socket's number is given back
  void receiving(const void* connection);  // the clock starts anew
  void working(const void* connection);    // the server's turn: no limit
  void sending(const void* connection);
  [[nodiscard]] int count() const;

 private:
  enum class Phase { receiving, working, sending };
  struct State {
    int socket;
    Phase phase;
    std::chrono::steady_clock::time_point since;
  };
  void enter(const void* connection, Phase phase);
  void watch();
  void close_late();

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable stop_signal_;
  bool stop_ = false;
  std::unordered_map<const void*, State> open_;
  std::thread watcher_;
};

}  // namespace fovea::server
