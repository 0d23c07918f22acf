#include "server/http/parser.hpp"

#include <algorithm>
#include <charconv>

#include "server/http/ascii.hpp"
#include "server/http/fields.hpp"

namespace fovea::server {
namespace {

constexpr std::size_t kLongestRequestLine = 8192;
constexpr std::size_t kLongestHead = std::size_t{32} << 10;
constexpr int kMostHeaders = 100;
constexpr std::size_t kLongestChunkLine = 256;
constexpr std::size_t kLongestTrailer = 8192;

constexpr const char* kWrongLine = "Invalid request: a line of its head is not as HTTP has it";
constexpr const char* kTwoLengths = "Invalid request: its length is given in more than one way";
constexpr const char* kWrongChunk = "Invalid request: the chunks of its body are not as HTTP has them";

// RFC 9110, 5.6.2.
bool is_token(std::string_view text) {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           marks.find(c) != std::string_view::npos;
  });
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7F;
}

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// Whether a list such as "keep-alive, Upgrade" names `wanted`, which is in small letters.
bool lists(std::string_view list, std::string_view wanted) {
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
    if (lower(trim(one)) == wanted) return true;
  }
  return false;
}

}  // namespace

RequestParser::Step RequestParser::fail(int status, std::string message) {
  state_ = State::broken;
  status_ = status;
  error_ = std::move(message);
  text_ = {};
  return Step::broken;
}

bool RequestParser::refuse(int status, std::string message) {
  (void)fail(status, std::move(message));
  return false;
}

std::string_view RequestParser::header(std::string_view name) const {
  const auto found =
      std::find_if(headers_.rbegin(), headers_.rend(), [name](const auto& header) { return header.first == name; });
  return found == headers_.rend() ? std::string_view() : std::string_view(found->second);
}

RequestParser::Step RequestParser::feed(std::string_view& in) {
  while (true) {
    switch (state_) {
      case State::head:
        return read_head(in);
      case State::body:
      case State::chunk:
        if (left_ == 0) {
          state_ = state_ == State::body ? State::done : State::chunk_end;
          continue;
        }
        if (in.empty()) return Step::more;
        piece_ = in.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left_, in.size())));
        in.remove_prefix(piece_.size());
        left_ -= piece_.size();
        return Step::body;
      case State::chunk_size: {
        const Step step = read_chunk_size(in);
        if (step != Step::done) return step;
        continue;
      }
      case State::chunk_end:
        if (!take_line(in, 0)) return state_ == State::broken ? Step::broken : Step::more;
        state_ = State::chunk_size;
        continue;
      case State::trailer:
        if (!take_line(in, kLongestTrailer)) return state_ == State::broken ? Step::broken : Step::more;
        trailer_bytes_ += text_.size() + 2;
        if (trailer_bytes_ > kLongestTrailer) return fail(431, "Invalid request: what follows its body is too long");
        if (text_.empty()) state_ = State::done;
        text_.clear();
        continue;
      case State::done:
        return Step::done;
      case State::broken:
        return Step::broken;
    }
  }
}

// Every byte is examined once, as it comes, so that what cannot become a request is refused without waiting for more.
RequestParser::Step RequestParser::read_head(std::string_view& in) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    const char c = in[i];
    const bool after_cr = !text_.empty() && text_.back() == '\r';
    if (after_cr != (c == '\n') || (is_control(c) && c != '\r' && c != '\n')) return fail(400, kWrongLine);
    text_ += c;
    if (c != '\n') {
      if (lines_ == 0 && text_.size() > kLongestRequestLine) return fail(414, "Invalid request: the URI is too long");
      if (text_.size() > kLongestHead) return fail(431, "Invalid request: its headers are too long");
      continue;
    }
    const std::size_t length = text_.size() - line_begin_ - 2;
    if (length == 0 && lines_ == 0) {  // some clients send an empty line after a body; RFC 9112, 2.2
      if (line_begin_ > 0) return fail(400, kWrongLine);
      line_begin_ = text_.size();
      continue;
    }
    const bool ends = length == 0;
    const std::string_view line = std::string_view(text_).substr(line_begin_, length);
    if (!ends && !(lines_ == 0 ? parse_request_line(line) : parse_header(line))) return Step::broken;
    line_begin_ = text_.size();
    ++lines_;
    if (!ends) continue;
    in.remove_prefix(i + 1);
    text_ = {};
    if (!interpret_headers()) return Step::broken;
    left_ = length_;
    state_ = chunked_ ? State::chunk_size : State::body;
    return Step::head;
  }
  in = {};
  return Step::more;
}

bool RequestParser::parse_request_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
  if (second == std::string_view::npos || line.find('\t') != std::string_view::npos) return refuse(400, kWrongLine);
  std::string_view target = line.substr(first + 1, second - first - 1);
  const std::string_view version = line.substr(second + 1);
  method_ = line.substr(0, first);
  if (!is_token(method_) || target.empty()) return refuse(400, kWrongLine);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    const bool other = version.size() == 8 && version.starts_with("HTTP/") && version[6] == '.';
    return refuse(other ? 505 : 400, other ? "HTTP Version Not Supported" : kWrongLine);
  }
  http_1_0_ = version == "HTTP/1.0";
  for (const std::string_view scheme : {"http://", "https://"}) {  // what clients send to a proxy
    if (!target.starts_with(scheme)) continue;
    const std::size_t slash = target.find_first_of("/?", scheme.size());
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
  }
  if (target.front() != '/' && target.front() != '?' && target != "*") return refuse(400, kWrongLine);
  const std::size_t mark = target.find('?');
  path_ = unescape(target.substr(0, mark), false);
  query_ = std::string(mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1));
  if (path_.empty()) path_.push_back('/');
  if (std::count(query_.begin(), query_.end(), '&') >= static_cast<std::ptrdiff_t>(kMostFields)) {
    return refuse(414, "Invalid request: the query has too many arguments");
  }
  return true;
}

bool RequestParser::parse_header(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return refuse(400, kWrongLine);
  if (lines_ > kMostHeaders) return refuse(431, "Invalid request: it has too many headers");
  headers_.emplace_back(lower(line.substr(0, colon)), std::string(trim(line.substr(colon + 1))));
  return true;
}

bool RequestParser::interpret_headers() {
  const auto count = [this](std::string_view name) {
    return std::count_if(headers_.begin(), headers_.end(), [name](const auto& h) { return h.first == name; });
  };
  if (count("host") > 1 || (count("host") == 0 && !http_1_0_)) {
    return refuse(400, "Invalid request: it must have one Host header");
  }
  if (count("content-length") + count("transfer-encoding") > 1) return refuse(400, kTwoLengths);
  if (count("content-length") == 1) {
    const std::string_view text = header("content-length");
    const bool digits =
        !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!digits) return refuse(400, "Invalid request: Content-Length is not a number");
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length_);
    if (error != std::errc()) return refuse(413, "Invalid request: the body is too large");
  }
  if (count("transfer-encoding") == 1) {
    if (http_1_0_) return refuse(400, kTwoLengths);
    if (lower(header("transfer-encoding")) != "chunked") {
      return refuse(501, "Invalid request: Transfer-Encoding is not chunked");
    }
    chunked_ = true;
  }
  const std::string_view connection = header("connection");
  keep_alive_ = http_1_0_ ? lists(connection, "keep-alive") : !lists(connection, "close");
  const std::string expect = lower(header("expect"));
  if (!expect.empty() && expect != "100-continue") return refuse(417, "Expectation Failed");
  expects_continue_ = !expect.empty() && !http_1_0_;
  return true;
}

bool RequestParser::take_line(std::string_view& in, std::size_t limit) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    const char c = in[i];
    const bool after_cr = !text_.empty() && text_.back() == '\r';
    if (after_cr != (c == '\n') || (is_control(c) && c != '\r' && c != '\n')) return refuse(400, kWrongChunk);
    if (c == '\n') {
      text_.pop_back();
      in.remove_prefix(i + 1);
      return true;
    }
    if (text_.size() >= limit && c != '\r') return refuse(400, kWrongChunk);
    text_ += c;
  }
  in = {};
  return false;
}

RequestParser::Step RequestParser::read_chunk_size(std::string_view& in) {
  if (!take_line(in, kLongestChunkLine)) return state_ == State::broken ? Step::broken : Step::more;
  const std::string_view digits = std::string_view(text_).substr(0, text_.find(';'));
  const bool hex = !digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), left_, 16);
  if (!hex || error != std::errc()) return fail(400, kWrongChunk);
  text_.clear();
  state_ = left_ == 0 ? State::trailer : State::chunk;
  return Step::done;
}

}  // namespace fovea::server
