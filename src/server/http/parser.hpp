// One HTTP/1.1 request from bytes as they come.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fovea::server {

/// Reads what RFC 9112 allows and nothing else: a proxy in front that reads a request otherwise than its server can be
/// made to pass on what it should not. So no line ends without CR, no space before a colon, no folded lines, no second
/// Host, and one length, given in one way.
class RequestParser {
 public:
  enum class Step {
    more,    // all bytes are taken, the request goes on
    head,    // the request line and the headers are here
    body,    // piece() is the next part of the body
    done,    // the request is whole; what is left of the bytes belongs to the next one
    broken,  // status() and error() say why; nothing more can be read
  };

  /// Takes bytes off the front of `in`.
  [[nodiscard]] Step feed(std::string_view& in);

  // From `head` on.
  [[nodiscard]] const std::string& method() const { return method_; }
  [[nodiscard]] const std::string& path() const { return path_; }    // decoded
  [[nodiscard]] const std::string& query() const { return query_; }  // as it was sent, without the ?
  /// The last value of a header, its name in small letters; empty when it is not there.
  [[nodiscard]] std::string_view header(std::string_view name) const;
  void forget_headers() { headers_ = {}; }
  [[nodiscard]] bool chunked() const { return chunked_; }
  [[nodiscard]] std::uint64_t length() const { return length_; }  // of the body, unless it is chunked
  [[nodiscard]] bool keep_alive() const { return keep_alive_; }
  [[nodiscard]] bool http_1_0() const { return http_1_0_; }
  [[nodiscard]] bool expects_continue() const { return expects_continue_; }

  [[nodiscard]] std::string_view piece() const { return piece_; }
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  enum class State { head, body, chunk_size, chunk, chunk_end, trailer, done, broken };

  Step fail(int status, std::string message);
  bool refuse(int status, std::string message);  // false
  Step read_head(std::string_view& in);
  Step read_chunk_size(std::string_view& in);
  bool take_line(std::string_view& in, std::size_t limit);  // into text_; true when it is whole, without its end
  bool parse_head();
  bool parse_request_line(std::string_view line);
  bool parse_header(std::string_view line);
  bool interpret_headers();

  State state_ = State::head;
  std::string text_;            // of the head, of a chunk's size or of a trailer, so far
  std::size_t line_begin_ = 0;  // in text_
  int lines_ = 0;
  std::string method_, path_, query_;
  std::vector<std::pair<std::string, std::string>> headers_;  // names in small letters
  bool chunked_ = false, keep_alive_ = true, http_1_0_ = false, expects_continue_ = false;
  std::uint64_t length_ = 0;
  std::uint64_t left_ = 0;  // of the body, or of a chunk
  std::size_t trailer_bytes_ = 0;
  std::string_view piece_;
  int status_ = 0;
  std::string error_;
};

}  // namespace fovea::server
