#include "server/http/http_server.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "fovea/error.hpp"
#include "server/http/address.hpp"
#include "server/http/connection.hpp"
#include "server/http/listen.hpp"

namespace fovea::server {
namespace {

constexpr std::chrono::milliseconds kBetweenSweeps(250);
constexpr int kAcceptedInTurn = 64;
constexpr std::uint64_t kListener = 0, kOutbox = 1;  // identifiers in epoll; connections count on from here

std::shared_ptr<const TlsCredentials> credentials(const HttpOptions& o) {
  if (o.tls_certificate.empty() != o.tls_key.empty()) {
    throw UsageError("TLS needs both a certificate (tls_certificate) and its key (tls_key)");
  }
  return o.tls_key.empty() ? nullptr : std::make_shared<const TlsCredentials>(o.tls_certificate, o.tls_key);
}

}  // namespace

HttpServer::HttpServer(const HttpOptions& options, HttpHandler handler)
    : context_(new ConnectionContext{options, std::move(handler)}),
      limit_(static_cast<std::size_t>(possible_connections(options.connections))),
      tls_(credentials(options)),
      listener_(listen_on(options.host, options.port)),
      port_(port_of(listener_)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      last_id_(kOutbox) {
  if (epoll_ < 0) {
    ::close(listener_);
    throw Error("server: no file descriptor is left");
  }
  watch(EPOLL_CTL_ADD, listener_, EPOLLIN, kListener);
  watch(EPOLL_CTL_ADD, context_->outbox->event(), EPOLLIN, kOutbox);
  thread_ = std::thread([this] { run(); });
}

HttpServer::~HttpServer() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = quit_ = true;
  }
  context_->outbox->wake();
  thread_.join();
  ::close(epoll_);
  if (listener_ >= 0) ::close(listener_);
}

void HttpServer::reload() {
  auto fresh = credentials(context_->options);
  const std::lock_guard lock(mutex_);
  tls_ = std::move(fresh);
}

void HttpServer::drain(int seconds) {
  std::unique_lock lock(mutex_);
  stop_ = true;
  context_->outbox->wake();
  changed_.wait(lock, [this] { return stopped_; });
  changed_.wait_for(lock, std::chrono::seconds(seconds), [this] { return idle_; });
}

void HttpServer::watch(int operation, int file, std::uint32_t events, std::uint64_t name) const {
  epoll_event event{};
  event.events = events;
  event.data.u64 = name;
  (void)::epoll_ctl(epoll_, operation, file, &event);
}

void HttpServer::run() {
  std::array<epoll_event, 256> events{};
  auto swept = Clock::now();
  while (!quitting()) {
    const int n =
        ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), static_cast<int>(kBetweenSweeps.count()));
    for (int i = 0; i < n; ++i) {
      const auto& event = events[static_cast<std::size_t>(i)];
      if (event.data.u64 == kListener) {
        accept();
      } else if (event.data.u64 != kOutbox) {
        with(event.data.u64, [&](Connection& c) { c.handle(event.events); });
      }
    }
    for (auto& answer : context_->outbox->take()) {
      with(answer.connection, [&](Connection& c) { c.answer(std::move(answer)); });
    }
    if (const auto now = Clock::now(); now - swept >= kBetweenSweeps) {
      swept = now;
      sweep(now);
    }
  }
  connections_.clear();
  count_ = 0;
}

// Runs `act` on a connection and updates its epoll events. A connection without memory ends; the others go on.
template <class Do>
void HttpServer::with(std::uint64_t id, const Do& act) {
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

void HttpServer::accept() {
  for (int i = 0; i < kAcceptedInTurn && listener_ >= 0; ++i) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    auto* to = reinterpret_cast<sockaddr*>(&address);
    full_ = connections_.size() >= limit_;
    const int socket = full_ ? -1 : ::accept4(listener_, to, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0) {
      full_ = full_ || errno == EMFILE || errno == ENFILE;
      if (full_) watch(EPOLL_CTL_MOD, listener_, 0, kListener);  // or epoll reports the listener without end
      return;
    }
    const int on = 1;
    (void)::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    try {
      const std::uint64_t id = ++last_id_;
      auto connection = std::make_unique<Connection>(*context_, id, socket, tls(), client_of(to));
      const std::uint32_t wanted = connection->registered = connection->interest();
      connections_.emplace(id, std::move(connection));
      ++count_;
      watch(EPOLL_CTL_ADD, socket, wanted, id);
    } catch (const std::exception&) {  // no memory: the socket is closed already
      return;
    }
  }
}

void HttpServer::listen_again() {
  if (!full_ || listener_ < 0) return;
  full_ = false;
  watch(EPOLL_CTL_MOD, listener_, EPOLLIN, kListener);
}

void HttpServer::sweep(Clock::time_point now) {
  const HttpOptions& o = context_->options;
  const bool many = connections_.size() > limit_ * 3 / 4;
  if (connections_.size() < limit_) listen_again();
  for (const std::uint64_t id : ids()) {
    with(id, [&](Connection& c) {
      const bool sending = c.phase() == Connection::Phase::sending;
      c.check_time(now, context_->stopping || (sending ? o.answers->scarce() : many || o.bodies->scarce()));
    });
  }
}

std::vector<std::uint64_t> HttpServer::ids() const {
  std::vector<std::uint64_t> all;
  all.reserve(connections_.size());
  for (const auto& [id, connection] : connections_) all.push_back(id);
  return all;
}

// Called once per turn of the loop: handles what drain() and the destructor request.
bool HttpServer::quitting() {
  std::unique_lock lock(mutex_);
  if (stop_ && !stopped_) {
    lock.unlock();
    context_->stopping = true;
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

std::shared_ptr<const TlsCredentials> HttpServer::tls() {
  const std::lock_guard lock(mutex_);
  return tls_;
}

}  // namespace fovea::server
