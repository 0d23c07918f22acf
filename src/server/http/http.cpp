#include "server/http/http.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "fovea/error.hpp"
#include "server/http/address.hpp"
#include "server/http/connection.hpp"
#include "server/http/listen.hpp"

namespace fovea::server {
namespace {

constexpr std::chrono::milliseconds kBetweenSweeps(250);
constexpr int kAcceptedInTurn = 64;
constexpr std::uint64_t kListener = 0, kOutbox = 1;  // in epoll, beside the connections' own numbers

std::shared_ptr<const TlsCredentials> credentials(const HttpOptions& o) {
  if (o.tls_certificate.empty() != o.tls_key.empty()) {
    throw UsageError("TLS needs both a certificate (tls_certificate) and its key (tls_key)");
  }
  return o.tls_key.empty() ? nullptr : std::make_shared<const TlsCredentials>(o.tls_certificate, o.tls_key);
}

}  // namespace

// The thread that has all connections, and what others may ask of it.
class HttpServer::Loop {
 public:
  Loop(const HttpOptions& options, HttpHandler handler)
      : server_{options, std::move(handler)},
        limit_(static_cast<std::size_t>(possible_connections(options.connections))),
        tls_(credentials(options)),
        listener_(listen_on(options.host, options.port)),
        port_(port_of(listener_)),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    if (epoll_ < 0) {
      ::close(listener_);
      throw Error("server: no file descriptor is left");
    }
    watch(EPOLL_CTL_ADD, listener_, EPOLLIN, kListener);
    watch(EPOLL_CTL_ADD, server_.outbox->event(), EPOLLIN, kOutbox);
    thread_ = std::thread([this] { run(); });
  }

  ~Loop() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = quit_ = true;
    }
    server_.outbox->wake();
    thread_.join();
    ::close(epoll_);
    if (listener_ >= 0) ::close(listener_);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] int connections() const { return count_; }

  void reload() {
    auto fresh = credentials(server_.options);
    const std::lock_guard lock(mutex_);
    tls_ = std::move(fresh);
  }

  void drain(int seconds) {
    std::unique_lock lock(mutex_);
    stop_ = true;
    server_.outbox->wake();
    changed_.wait(lock, [this] { return stopped_; });
    changed_.wait_for(lock, std::chrono::seconds(seconds), [this] { return idle_; });
  }

 private:
  void watch(int operation, int file, std::uint32_t events, std::uint64_t name) const {
    epoll_event event{};
    event.events = events;
    event.data.u64 = name;
    (void)::epoll_ctl(epoll_, operation, file, &event);
  }

  void run() {
    std::array<epoll_event, 256> events{};
    auto swept = Connection::Clock::now();
    while (!quitting()) {
      const int n = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()),
                                 static_cast<int>(kBetweenSweeps.count()));
      for (int i = 0; i < n; ++i) {
        const auto& event = events[static_cast<std::size_t>(i)];
        if (event.data.u64 == kListener) {
          accept();
        } else if (event.data.u64 != kOutbox) {
          with(event.data.u64, [&](Connection& c) { c.handle(event.events); });
        }
      }
      for (auto& answer : server_.outbox->take()) {
        with(answer.connection, [&](Connection& c) { c.answer(std::move(answer)); });
      }
      if (const auto now = Connection::Clock::now(); now - swept >= kBetweenSweeps) {
        swept = now;
        sweep(now);
      }
    }
    connections_.clear();
    count_ = 0;
  }

  // Lets a connection do something, and tells epoll what it waits for then. A connection for which there is no memory
  // ends; the others go on.
  template <class Do>
  void with(std::uint64_t id, const Do& act) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    Connection& connection = *found->second;
    bool over = false;
    try {
      act(connection);
      over = connection.phase() == Connection::Phase::over;
    } catch (const std::exception&) {
      over = true;
    }
    if (over) {
      connections_.erase(found);
      --count_;
      listen_again();
      return;
    }
    if (const std::uint32_t wanted = connection.interest(); wanted != connection.registered) {
      connection.registered = wanted;
      watch(EPOLL_CTL_MOD, connection.socket(), wanted, id);
    }
  }

  void accept() {
    for (int i = 0; i < kAcceptedInTurn && listener_ >= 0; ++i) {
      if (connections_.size() >= limit_) {
        watch(EPOLL_CTL_MOD, listener_, 0, kListener);
        full_ = true;
        return;
      }
      sockaddr_storage address{};
      socklen_t size = sizeof(address);
      auto* to = reinterpret_cast<sockaddr*>(&address);
      const int socket = ::accept4(listener_, to, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (socket < 0) {
        if (errno != EMFILE && errno != ENFILE) return;
        watch(EPOLL_CTL_MOD, listener_, 0, kListener);  // or epoll would report it without end
        full_ = true;
        return;
      }
      const int on = 1;
      (void)::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      try {
        const std::uint64_t id = ++last_id_;
        auto connection = std::make_unique<Connection>(server_, id, socket, tls(), client_of(to));
        connection->registered = connection->interest();
        const int file = connection->socket();
        const std::uint32_t wanted = connection->registered;
        connections_.emplace(id, std::move(connection));
        ++count_;
        watch(EPOLL_CTL_ADD, file, wanted, id);
      } catch (const std::exception&) {  // no memory: the socket is closed already
        return;
      }
    }
  }

  void listen_again() {
    if (!full_ || listener_ < 0) return;
    full_ = false;
    watch(EPOLL_CTL_MOD, listener_, EPOLLIN, kListener);
  }

  void sweep(Connection::Clock::time_point now) {
    const HttpOptions& o = server_.options;
    const bool many = connections_.size() > limit_ * 3 / 4;
    if (connections_.size() < limit_) listen_again();
    for (const std::uint64_t id : ids()) {
      with(id, [&](Connection& c) {
        const bool sending = c.phase() == Connection::Phase::sending;
        c.check_time(now, server_.stopping || (sending ? o.answers->scarce() : many || o.bodies->scarce()));
      });
    }
  }

  [[nodiscard]] std::vector<std::uint64_t> ids() const {
    std::vector<std::uint64_t> all;
    all.reserve(connections_.size());
    for (const auto& [id, connection] : connections_) all.push_back(id);
    return all;
  }

  // Once per turn: what others want, and what they wait for.
  bool quitting() {
    std::unique_lock lock(mutex_);
    if (stop_ && !stopped_) {
      lock.unlock();
      server_.stopping = true;
      ::close(std::exchange(listener_, -1));
      for (const std::uint64_t id : ids()) with(id, [](Connection& c) { c.stop(); });
      lock.lock();
      stopped_ = true;
      changed_.notify_all();
    }
    if (stopped_) {
      idle_ = std::none_of(connections_.begin(), connections_.end(), [](const auto& entry) {
        const auto phase = entry.second->phase();
        return phase == Connection::Phase::working || phase == Connection::Phase::sending;
      });
      if (idle_) changed_.notify_all();
    }
    return quit_;
  }

  [[nodiscard]] std::shared_ptr<const TlsCredentials> tls() {
    const std::lock_guard lock(mutex_);
    return tls_;
  }

  Connection::Server server_;
  const std::size_t limit_;
  std::shared_ptr<const TlsCredentials> tls_;
  int listener_;  // -1 once the server stops
  const int port_;
  const int epoll_;
  bool full_ = false;  // nobody is accepted until somebody leaves
  std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  std::uint64_t last_id_ = kOutbox;
  std::atomic<int> count_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false, quit_ = false, stopped_ = false, idle_ = false;
  std::thread thread_;
};

HttpServer::HttpServer(const HttpOptions& options, HttpHandler handler)
    : loop_(std::make_unique<Loop>(options, std::move(handler))) {}

HttpServer::~HttpServer() = default;

int HttpServer::port() const {
  return loop_->port();
}

int HttpServer::connections() const {
  return loop_->connections();
}

void HttpServer::reload() {
  loop_->reload();
}

void HttpServer::drain(int seconds) {
  loop_->drain(seconds);
}

}  // namespace fovea::server
