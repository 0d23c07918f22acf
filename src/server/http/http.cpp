#include "server/http/http.hpp"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "fovea/error.hpp"
#include "server/http/deadlines.hpp"
#include "server/http/listen.hpp"

namespace fovea::server {
namespace {

constexpr std::size_t kHeaderMemory = std::size_t{32} << 10;  // per connection: request line, headers, reading
constexpr std::size_t kDrained = 8;  // bodies up to so many limits are read to their end, then refused

// Who has one address of an IPv6 network has all 2^64 of it: the network is the client.
std::string network_of(in6_addr address) {
  if (!IN6_IS_ADDR_V4MAPPED(&address)) std::fill(address.s6_addr + 8, address.s6_addr + 16, std::uint8_t{0});
  char text[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(AF_INET6, &address, text, sizeof(text));
  return text;
}

std::string network_of(const std::string& text) {
  in6_addr address{};
  return ::inet_pton(AF_INET6, text.c_str(), &address) == 1 ? network_of(address) : text;
}

std::string address_of(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address != nullptr && address->sa_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text, sizeof(text));
  } else if (address != nullptr && address->sa_family == AF_INET6) {
    return network_of(reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
  }
  return text;
}

std::string header(MHD_Connection* connection, const char* name) {
  const char* value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? "" : value;
}

// All headers of that name: the last value (a proxy may add its own behind the client's), and how many there are.
struct Headers {
  std::string_view name;
  std::string value = {};
  int count = 0;
};
Headers headers(MHD_Connection* connection, std::string_view name) {
  Headers found{name};
  const auto look = [](void* context, MHD_ValueKind, const char* key, const char* value) {
    auto& wanted = *static_cast<Headers*>(context);
    const std::string_view there = key;
    const bool same =
        std::equal(there.begin(), there.end(), wanted.name.begin(), wanted.name.end(), [](char a, char b) {
          return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
        });
    if (same) {
      wanted.value = value == nullptr ? "" : value;
      ++wanted.count;
    }
    return MHD_YES;
  };
  MHD_get_connection_values(connection, MHD_HEADER_KIND, look, &found);
  return found;
}

// What was said last: the proxy that is trusted appends the address it saw.
std::string last_of_list(const std::string& list) {
  const std::size_t comma = list.find_last_of(',');
  const std::size_t from = list.find_first_not_of(' ', comma == std::string::npos ? 0 : comma + 1);
  return from == std::string::npos ? "" : list.substr(from);
}

MHD_Result add_argument(void* to, MHD_ValueKind, const char* name, std::size_t name_size, const char* value,
                        std::size_t value_size) {
  static_cast<Request*>(to)->query.emplace_back(std::string(name, name_size),
                                                value == nullptr ? std::string() : std::string(value, value_size));
  return MHD_YES;
}

Response ambiguous() {
  return {400, R"({"error":"Invalid request: its length is given in more than one way"})"};
}

Response failure() {
  return {500, R"({"error":"Internal server error"})"};
}

}  // namespace

// One request and its answer. The connection belongs to the daemon's thread, except that `with` may wake it up once it
// sleeps; `turn_` says who came first.
class Exchange final : public Reply {
 public:
  explicit Exchange(MHD_Connection* connection) : connection_(connection) {}

  void with(std::function<Response()> make) override {
    make_ = std::move(make);
    if (turn_.exchange(kAnswered) == kAsleep) MHD_resume_connection(connection_);
  }

  [[nodiscard]] bool answered() const { return turn_.load() == kAnswered; }

  // Puts the connection to sleep until the answer is there.
  void sleep() {
    MHD_suspend_connection(connection_);
    int expected = kOpen;
    if (!turn_.compare_exchange_strong(expected, kAsleep)) MHD_resume_connection(connection_);
  }

  MHD_Result send(bool last) {
    try {
      response_ = make_();
    } catch (const std::exception&) {
      response_ = failure();
    }
    make_ = nullptr;
    MHD_Response* out =
        MHD_create_response_from_buffer(response_.body.size(), response_.body.data(), MHD_RESPMEM_PERSISTENT);
    if (out == nullptr) return MHD_NO;
    MHD_add_response_header(out, "Content-Type", response_.type.c_str());
    for (const auto& [name, value] : response_.headers) MHD_add_response_header(out, name.c_str(), value.c_str());
    if (last) MHD_add_response_header(out, "Connection", "close");
    const MHD_Result sent = MHD_queue_response(connection_, static_cast<unsigned>(response_.status), out);
    MHD_destroy_response(out);
    return sent;
  }

  std::shared_ptr<Request> request = std::make_shared<Request>();
  bool handled = false;
  bool ends = false;          // what comes behind it on the connection cannot be told from its body
  std::size_t announced = 0;  // bytes of the body, as its header says
  std::size_t received = 0;   // so far

 private:
  static constexpr int kOpen = 0, kAsleep = 1, kAnswered = 2;
  MHD_Connection* connection_;
  std::atomic<int> turn_{kOpen};
  std::function<Response()> make_;
  Response response_;
};

class HttpServer::Daemon {
 public:
  Daemon(const HttpOptions& options, Handler handler)
      : options_(options),
        handler_(std::move(handler)),
        limit_(possible_connections(options.connections)),
        deadlines_({options.receive_seconds, options.send_seconds, options.crowded_seconds, limit_ * 3 / 4}) {
    const int socket = listen_on(options.host, options.port);
    port_ = port_of(socket);
    daemon_ = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC, 0, nullptr, nullptr, &on_request, this,
        MHD_OPTION_LISTEN_SOCKET, socket, MHD_OPTION_CONNECTION_LIMIT, static_cast<unsigned>(limit_),
        MHD_OPTION_CONNECTION_TIMEOUT, static_cast<unsigned>(std::max(options.send_seconds, options.receive_seconds)),
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_CONNECTION_MEMORY_LIMIT, kHeaderMemory, MHD_OPTION_NOTIFY_COMPLETED,
        &on_completed, this, MHD_OPTION_NOTIFY_CONNECTION, &on_connection, this, MHD_OPTION_END);
    if (daemon_ == nullptr) {
      ::close(socket);
      throw Error("server: its thread cannot be started");
    }
  }

  ~Daemon() {
    quiesce();
    MHD_stop_daemon(daemon_);
    if (listening_ >= 0) ::close(listening_);
  }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] int connections() const { return deadlines_.count(); }

  void drain(int seconds) {
    quiesce();
    std::unique_lock lock(mutex_);
    idle_.wait_for(lock, std::chrono::seconds(seconds), [this] { return under_way_ == 0; });
  }

 private:
  using Owned = std::shared_ptr<Exchange>;

  void quiesce() {
    if (stopping_.exchange(true)) return;
    listening_ = MHD_quiesce_daemon(daemon_);
    // Nobody connects any more; closed only when the daemon's thread, which may be looking at it, has ended.
    if (listening_ >= 0) ::shutdown(listening_, SHUT_RDWR);
  }

  void count(int change) {
    const std::lock_guard lock(mutex_);
    under_way_ += change;
    if (under_way_ == 0) idle_.notify_all();
  }

  // The first call for a request has its headers, the next ones parts of its body, the last one none; then once more
  // after the connection has slept.
  static MHD_Result on_request(void* self, MHD_Connection* connection, const char* url, const char* method,
                               const char* /*version*/, const char* data, std::size_t* size, void** context) {
    auto* daemon = static_cast<Daemon*>(self);
    try {
      auto* owned = static_cast<Owned*>(*context);
      if (owned == nullptr) {
        owned = new Owned(daemon->begin(connection, url, method));
        *context = owned;
        if ((*owned)->ends) {
          (*owned)->handled = true;
          (*owned)->with(ambiguous);
          return daemon->answer(connection, *owned);
        }
        // Far too much is refused before it is sent; an answer now ends the connection.
        return (*owned)->announced > kDrained * daemon->options_.body_limit ? daemon->answer(connection, *owned)
                                                                            : MHD_YES;
      }
      Exchange& exchange = **owned;
      if (*size > 0) return daemon->receive(exchange, {data, std::exchange(*size, 0)}) ? MHD_YES : MHD_NO;
      return daemon->answer(connection, *owned);
    } catch (const std::exception&) {  // out of memory: this connection ends, the others go on
      return MHD_NO;
    }
  }

  Owned begin(MHD_Connection* connection, const char* url, const char* method) {
    deadlines_.receiving(connection);
    auto exchange = std::make_shared<Exchange>(connection);
    Request& request = *exchange->request;
    request.method = method;
    request.path = url;
    request.content_type = header(connection, MHD_HTTP_HEADER_CONTENT_TYPE);
    MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, &add_argument, &request);
    const auto* address = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    request.client = address == nullptr ? "" : address_of(address->client_addr);
    if (options_.behind_proxy) {
      const std::string told = last_of_list(headers(connection, "X-Forwarded-For").value);
      if (!told.empty()) request.client = network_of(told);
    }
    // A proxy may have read another of them, and taken the next request for a body or the other way round.
    const int lengths = headers(connection, MHD_HTTP_HEADER_CONTENT_LENGTH).count;
    const int codings = headers(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING).count;
    exchange->ends = lengths + codings > 1;
    const std::string length = header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
    std::from_chars(length.data(), length.data() + length.size(), exchange->announced);
    request.too_large = exchange->announced > options_.body_limit;
    count(1);
    return exchange;
  }

  bool receive(Exchange& exchange, std::string_view data) {
    Request& request = *exchange.request;
    exchange.received += data.size();
    if (exchange.received > options_.body_limit) request.too_large = true;
    if (exchange.received > kDrained * options_.body_limit) return false;
    if (request.too_large) {
      request.body = {};
    } else {
      request.body.append(data);
    }
    return true;
  }

  MHD_Result answer(MHD_Connection* connection, const Owned& exchange) {
    if (!exchange->handled) {
      exchange->handled = true;
      deadlines_.working(connection);
      try {
        handler_(exchange->request, exchange);
      } catch (const std::exception&) {
        if (!exchange->answered()) exchange->with(failure);
      }
    }
    if (!exchange->answered()) {
      exchange->sleep();
      return MHD_YES;
    }
    deadlines_.sending(connection);
    return exchange->send(exchange->ends || stopping_.load());
  }

  static void on_completed(void* self, MHD_Connection* connection, void** context, MHD_RequestTerminationCode) {
    auto* owned = static_cast<Owned*>(std::exchange(*context, nullptr));
    if (owned == nullptr) return;
    delete owned;
    auto* daemon = static_cast<Daemon*>(self);
    daemon->deadlines_.receiving(connection);
    daemon->count(-1);
  }

  static void on_connection(void* self, MHD_Connection* connection, void** /*context*/,
                            MHD_ConnectionNotificationCode what) {
    auto* daemon = static_cast<Daemon*>(self);
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
      daemon->deadlines_.closed(connection);
      return;
    }
    const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info != nullptr) daemon->deadlines_.opened(connection, info->connect_fd);
  }

  const HttpOptions options_;
  const Handler handler_;
  const int limit_;
  Deadlines deadlines_;
  MHD_Daemon* daemon_ = nullptr;
  int port_ = 0;
  int listening_ = -1;  // the socket, once the daemon has given it up
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable idle_;
  int under_way_ = 0;  // requests whose answer has not been taken
};

HttpServer::HttpServer(const HttpOptions& options, Handler handler)
    : daemon_(std::make_unique<Daemon>(options, std::move(handler))) {}

HttpServer::~HttpServer() = default;

int HttpServer::port() const {
  return daemon_->port();
}

int HttpServer::connections() const {
  return daemon_->connections();
}

void HttpServer::drain(int seconds) {
  daemon_->drain(seconds);
}

}  // namespace fovea::server
