#include "server/http/connection.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <ctime>

#include "server/http/address.hpp"
#include "server/http/fields.hpp"

namespace fovea::server {
namespace {

constexpr std::size_t kDrained = 8;  // bodies up to this many limits are read to their end before they are refused
constexpr int kReadsInTurn = 4;      // reads of one connection before the others have their turn
constexpr int kLingerSeconds = 2;
constexpr std::size_t kSlowestRate = std::size_t{256} << 10;  // bytes per second of a long response

std::string_view reason(int status) {
  constexpr std::pair<int, std::string_view> all[] = {{200, "OK"},
                                                      {400, "Bad Request"},
                                                      {403, "Forbidden"},
                                                      {404, "Not Found"},
                                                      {405, "Method Not Allowed"},
                                                      {413, "Content Too Large"},
                                                      {414, "URI Too Long"},
                                                      {417, "Expectation Failed"},
                                                      {429, "Too Many Requests"},
                                                      {431, "Request Header Fields Too Large"},
                                                      {500, "Internal Server Error"},
                                                      {501, "Not Implemented"},
                                                      {503, "Service Unavailable"},
                                                      {505, "HTTP Version Not Supported"}};
  for (const auto& [code, text] : all) {
    if (code == status) return text;
  }
  return "Other";
}

std::string date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &parts)};  // the "C" locale is in force
}

std::string head_of(const Response& response, bool last, bool http_1_0) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n",
                                 response.status, reason(response.status), date(), response.type, response.body.size());
  for (const auto& [name, value] : response.headers) head += fmt::format("{}: {}\r\n", name, value);
  if (last) head += "Connection: close\r\n";
  if (!last && http_1_0) head += "Connection: keep-alive\r\n";
  return head + "\r\n";
}

}  // namespace

Connection::Connection(ConnectionContext& context, std::uint64_t id, int socket,
                       std::shared_ptr<const TlsCredentials> tls, std::string client)
    : context_(context),
      id_(id),
      stream_(socket, std::move(tls)),
      address_(std::move(client)),
      rest_memory_(context.options.bodies) {}

Connection::~Connection() {
  if (exchange_ != nullptr) exchange_->leave();
}

void Connection::enter(Phase phase) {
  phase_ = phase;
  since_ = progress_ = Clock::now();
}

std::uint32_t Connection::interest() const {
  switch (phase_) {
    case Phase::receiving:
      return EPOLLIN | (stream_.wants_write() ? EPOLLOUT : 0U);
    case Phase::working:
      return EPOLLRDHUP;
    case Phase::sending:
      return EPOLLOUT;
    case Phase::lingering:
      return EPOLLIN;
    case Phase::over:
      return 0;
  }
  return 0;
}

void Connection::handle(std::uint32_t events) {
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) return enter(Phase::over);
  switch (phase_) {
    case Phase::receiving:
    case Phase::lingering:
      return read();
    case Phase::working:  // a client that closes its side does not want the response
      if ((events & EPOLLRDHUP) != 0) enter(Phase::over);
      return;
    case Phase::sending:
      return send();
    case Phase::over:
      return;
  }
}

void Connection::read() {
  for (int i = 0; i < kReadsInTurn || stream_.pending(); ++i) {
    const auto got = stream_.read(context_.buffer.data(), context_.buffer.size());
    if (got < 0) return enter(Phase::over);
    if (got == 0) return;
    if (phase_ == Phase::lingering) continue;
    take(std::string_view(context_.buffer).substr(0, static_cast<std::size_t>(got)));
    if (phase_ != Phase::receiving) return;
    if (static_cast<std::size_t>(got) < context_.buffer.size() && !stream_.pending()) return;
  }
}

void Connection::take(std::string_view in) {
  while (phase_ == Phase::receiving) {
    switch (parser_.feed(in)) {
      case RequestParser::Step::more:
        return;
      case RequestParser::Step::head:
        begin();
        break;
      case RequestParser::Step::body:
        store(parser_.piece());
        break;
      case RequestParser::Step::done:
        // Pipelined bytes count as bodies do. Without memory for them this response is the last.
        if (rest_memory_.grow(in.size())) {
          rest_ = in;
        } else {
          last_ = true;
        }
        return hand_over();
      case RequestParser::Step::broken:
        return refuse();
    }
  }
}

void Connection::begin() {
  request_ = std::make_shared<Request>();
  received_ = 0;
  refusal_.reset();
  last_ = !parser_.keep_alive();
  without_body_ = parser_.method() == "HEAD";
  request_->method = parser_.method();
  request_->path = parser_.path();
  request_->query = parse_form(parser_.query());
  request_->content_type = parser_.header("content-type");
  request_->client = address_;
  request_->memory = MemoryReservation(context_.options.bodies);
  if (context_.options.behind_proxy) {
    const std::string forwarded = client_of(parser_.header("x-forwarded-for"));
    if (!forwarded.empty()) request_->client = forwarded;
  }
  parser_.forget_headers();
  request_->too_large = parser_.length() > context_.options.body_limit;
  if (context_.handler.admit) refusal_ = context_.handler.admit(*request_);
  const bool refused = request_->too_large || refusal_.has_value();
  // A far too large body is refused before it arrives, and so is one that the client only announces.
  if (parser_.length() > kDrained * context_.options.body_limit || (refused && parser_.expects_continue())) {
    last_ = true;
    return hand_over();
  }
  constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
  const bool body = parser_.chunked() || parser_.length() > 0;
  if (parser_.expects_continue() && body && stream_.write(go_on, false) != static_cast<std::ptrdiff_t>(go_on.size())) {
    enter(Phase::over);
  }
}

void Connection::store(std::string_view piece) {
  const std::size_t limit = context_.options.body_limit;
  received_ += piece.size();
  if (received_ > kDrained * limit) return enter(Phase::over);
  if (received_ > limit) request_->too_large = true;
  if (request_->too_large || refusal_) return request_->forget_body();
  // A growing string takes up to twice its size; one of known length is allocated once.
  if (!request_->memory.grow(parser_.chunked() ? 2 * piece.size() : piece.size())) {
    refusal_ = Response{429, R"({"error":"Slowdown: too many requests are being sent"})"};
    refusal_->headers.emplace_back("Retry-After", "2");
    return request_->forget_body();
  }
  if (request_->body.empty()) request_->body.reserve(static_cast<std::size_t>(parser_.length()));
  request_->body.append(piece);
}

void Connection::hand_over() {
  enter(Phase::working);
  exchange_ = std::make_shared<Exchange>(context_.outbox, context_.options.answers, id_);
  const auto exchange = exchange_;
  const auto request = std::move(request_);
  if (refusal_) return exchange->with(*std::exchange(refusal_, std::nullopt));
  try {
    context_.handler.handle(request, exchange);
  } catch (const std::exception&) {
    exchange->with({500, R"({"error":"Internal server error"})"});
  }
}

void Connection::refuse() {
  last_ = true;
  request_.reset();
  Response response{parser_.status(), fmt::format(R"({{"error":"{}"}})", parser_.error())};
  enter(Phase::working);
  answer({id_, std::move(response)});
}

void Connection::answer(Outbox::Answer answer) {
  if (phase_ != Phase::working) return;
  exchange_.reset();
  out_ = std::move(answer);
  last_ = last_ || context_.stopping;
  head_ = head_of(out_.response, last_, parser_.http_1_0());
  if (without_body_) {
    out_.response.body = {};
    out_.response.memory.release();
  }
  sent_ = 0;
  enter(Phase::sending);
  send();
}

void Connection::send() {
  const std::string& body = out_.response.body;
  while (sent_ < head_.size() + body.size()) {
    const bool in_head = sent_ < head_.size();
    const std::string_view next =
        in_head ? std::string_view(head_).substr(sent_) : std::string_view(body).substr(sent_ - head_.size());
    const auto taken = stream_.write(next, in_head && !body.empty());
    if (taken < 0) return enter(Phase::over);
    if (taken == 0) return;
    sent_ += static_cast<std::size_t>(taken);
    progress_ = Clock::now();
  }
  finish_answer();
}

void Connection::finish_answer() {
  out_ = {0, {}};
  head_ = {};
  if (last_ || context_.stopping) {
    stream_.finish();
    return enter(Phase::lingering);
  }
  parser_ = RequestParser();
  without_body_ = false;
  enter(Phase::receiving);
  const std::string rest = std::exchange(rest_, {});
  rest_memory_.release();
  if (!rest.empty()) take(rest);
  if (phase_ == Phase::receiving && stream_.pending()) read();
}

void Connection::check_time(Clock::time_point now, bool crowded) {
  const HttpOptions& o = context_.options;
  const auto seconds = [](int n) { return std::chrono::seconds(n); };
  bool late = false;
  switch (phase_) {
    case Phase::receiving:
      late = now - since_ >= seconds(crowded ? std::min(o.crowded_seconds, o.receive_seconds) : o.receive_seconds);
      break;
    case Phase::sending:
      late = now - progress_ >= seconds(crowded ? std::min(o.crowded_seconds, o.stall_seconds) : o.stall_seconds) ||
             now - since_ >= seconds(o.send_seconds + static_cast<int>(out_.response.body.size() / kSlowestRate));
      break;
    case Phase::lingering:
      late = now - since_ >= seconds(kLingerSeconds);
      break;
    case Phase::working:
    case Phase::over:
      break;
  }
  if (late) enter(Phase::over);
}

void Connection::stop() {
  if (phase_ == Phase::receiving) read();  // the rest of the request may have arrived
  if (phase_ == Phase::receiving) enter(Phase::over);
}

}  // namespace fovea::server
