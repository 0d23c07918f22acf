#include "server/http/deadlines.hpp"

#include <sys/socket.h>

namespace fovea::server {

using Clock = std::chrono::steady_clock;

Deadlines::Deadlines(const Options& options) : options_(options), watcher_([this] { watch(); }) {}

Deadlines::~Deadlines() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stop_signal_.notify_all();
  watcher_.join();
}

void Deadlines::opened(const void* connection, int socket) {
  const std::lock_guard lock(mutex_);
  open_[connection] = {socket, Phase::receiving, Clock::now()};
}

void Deadlines::closed(const void* connection) {
  const std::lock_guard lock(mutex_);
  open_.erase(connection);
}

void Deadlines::enter(const void* connection, Phase phase) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(connection);
  if (found == open_.end()) return;
  found->second.phase = phase;
  found->second.since = Clock::now();
}

void Deadlines::receiving(const void* connection) {
  enter(connection, Phase::receiving);
}

void Deadlines::working(const void* connection) {
  enter(connection, Phase::working);
}

void Deadlines::sending(const void* connection) {
  enter(connection, Phase::sending);
}

int Deadlines::count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(open_.size());
}

void Deadlines::close_late() {
  const auto now = Clock::now();
  const bool crowded = static_cast<int>(open_.size()) > options_.crowd;
  const std::chrono::seconds receive(crowded ? options_.crowded_seconds : options_.receive_seconds);
  const std::chrono::seconds send(options_.send_seconds);
  for (auto& [connection, state] : open_) {
    if (state.phase == Phase::working) continue;
    if (now - state.since < (state.phase == Phase::receiving ? receive : send)) continue;
    (void)::shutdown(state.socket, SHUT_RDWR);
    state.since = now;
  }
}

void Deadlines::watch() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    stop_signal_.wait_for(lock, std::chrono::milliseconds(250));
    close_late();
  }
}

}  // namespace fovea::server
