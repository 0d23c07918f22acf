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

constexpr const char* kWrongLine = "Invalid request: malformed request line or header";
constexpr const char* kTwoLengths = "Invalid request: more than one Content-Length or Transfer-Encoding";
constexpr const char* kWrongChunk = "Invalid request: malformed chunk of the body";

// A token of RFC 9110, 5.6.2.
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

// Whether a list such as "keep-alive, Upgrade" contains `wanted`, which is in lower case.
bool lists(std::string_view list, std::string_view wanted) {
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
    if (lower(trim(one)) == wanted) return true;
  }
  return false;
}

}  // namespace

bool RequestParser::refuse(int status, std::string message) {
  state_ = State::broken;
  status_ = status;
  error_ = std::move(message);
  line_ = {};
  return false;
}

std::string_view RequestParser::header(std::string_view name) const {
  const auto found =
      std::find_if(headers_.rbegin(), headers_.rend(), [name](const auto& header) { return header.first == name; });
  return found == headers_.rend() ? std::string_view() : std::string_view(found->second);
}

const RequestParser::LineErrors RequestParser::kRequestLineErrors{kWrongLine, 414,
                                                                  "Invalid request: the URI is too long"};
const RequestParser::LineErrors RequestParser::kHeaderErrors{kWrongLine, 431,
                                                             "Invalid request: the headers are too long"};
const RequestParser::LineErrors RequestParser::kChunkErrors{kWrongChunk, 400, kWrongChunk};
const RequestParser::LineErrors RequestParser::kTrailerErrors{kWrongChunk, 431,
                                                              "Invalid request: the trailers are too long"};

RequestParser::Step RequestParser::feed(std::string_view& in) {
  while (true) {
    bool complete = true;
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
      case State::chunk_size:
        complete = read_chunk_size(in);
        break;
      case State::chunk_end:
        complete = take_line(in, 0, kChunkErrors);
        if (complete) state_ = State::chunk_size;
        break;
      case State::trailer:
        complete = read_trailer(in);
        break;
      case State::done:
        return Step::done;
      case State::broken:
        return Step::broken;
    }
    if (!complete) return state_ == State::broken ? Step::broken : Step::more;
  }
}

RequestParser::Step RequestParser::read_head(std::string_view& in) {
  while (true) {
    const bool first = lines_ == 0;
    const LineErrors& errors = first ? kRequestLineErrors : kHeaderErrors;
    if (!take_line(in, first ? kLongestRequestLine : kLongestHead - std::min(kLongestHead, line_bytes_), errors)) {
      return state_ == State::broken ? Step::broken : Step::more;
    }
    if (line_.empty() && !first) break;
    if (line_.empty()) {  // some clients send an empty line after a body; RFC 9112, 2.2
      if (std::exchange(blank_, true) && !refuse(400, kWrongLine)) return Step::broken;
      continue;
    }
    if (!(first ? parse_request_line(line_) : parse_header(line_))) return Step::broken;
    line_bytes_ += line_.size() + 2;
    ++lines_;
    line_.clear();
  }
  line_bytes_ = 0;
  if (!interpret_headers()) return Step::broken;
  left_ = length_;
  state_ = chunked_ ? State::chunk_size : State::body;
  return Step::head;
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
  for (const std::string_view scheme : {"http://", "https://"}) {  // the form for proxies
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
  if (lines_ > kMostHeaders) return refuse(431, "Invalid request: too many headers");
  headers_.emplace_back(lower(line.substr(0, colon)), std::string(trim(line.substr(colon + 1))));
  return true;
}

bool RequestParser::interpret_headers() {
  const auto count = [this](std::string_view name) {
    return std::count_if(headers_.begin(), headers_.end(), [name](const auto& h) { return h.first == name; });
  };
  if (count("host") > 1 || (count("host") == 0 && !http_1_0_)) {
    return refuse(400, "Invalid request: there must be one Host header");
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

// Every byte is checked as it arrives, so that an invalid request is refused without waiting for more.
bool RequestParser::take_line(std::string_view& in, std::size_t limit, const LineErrors& errors) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    const char c = in[i];
    const bool after_cr = !line_.empty() && line_.back() == '\r';
    if (after_cr != (c == '\n') || (is_control(c) && c != '\r' && c != '\n')) return refuse(400, errors.wrong);
    if (c == '\n') {
      line_.pop_back();
      in.remove_prefix(i + 1);
      return true;
    }
    if (line_.size() >= limit && c != '\r') return refuse(errors.long_status, errors.too_long);
    line_ += c;
  }
  in = {};
  return false;
}

bool RequestParser::read_chunk_size(std::string_view& in) {
  if (!take_line(in, kLongestChunkLine, kChunkErrors)) return false;
  const std::string_view digits = std::string_view(line_).substr(0, line_.find(';'));
  const bool hex = !digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), left_, 16);
  if (!hex || error != std::errc()) return refuse(400, kWrongChunk);
  line_.clear();
  state_ = left_ == 0 ? State::trailer : State::chunk;
  return true;
}

bool RequestParser::read_trailer(std::string_view& in) {
  if (!take_line(in, kLongestTrailer - line_bytes_, kTrailerErrors)) return false;
  line_bytes_ += line_.size() + 2;
  if (line_bytes_ > kLongestTrailer) return refuse(kTrailerErrors.long_status, kTrailerErrors.too_long);
  if (line_.empty()) state_ = State::done;
  line_.clear();
  return true;
}

}  // namespace fovea::server
