// Parses one HTTP/1.1 request incrementally.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fovea::server {

/// Accepts what RFC 9112 allows and nothing else: a proxy that parses a request differently than its server can be made
/// to forward what it should not (request smuggling). No line without CR, no space before a colon, no folded line, one
/// Host, and one length in one form.
class RequestParser {
 public:
  enum class Step {
    more,    // all bytes are used, the request is incomplete
    head,    // the request line and the headers are complete
    body,    // piece() is the next part of the body
    done,    // the request is complete; the remaining bytes belong to the next one
    broken,  // status() and error() are the reason; nothing more can be parsed
  };

  /// Removes the parsed bytes from the front of `in`.
  [[nodiscard]] Step feed(std::string_view& in);

  // From `head` on.
  [[nodiscard]] const std::string& method() const { return method_; }
  [[nodiscard]] const std::string& path() const { return path_; }    // decoded
  [[nodiscard]] const std::string& query() const { return query_; }  // as sent, without the ?
  /// The last value of a header, its name in lower case; empty when it is missing.
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

  // Why a line is refused.
  struct LineErrors {
    const char* wrong;
    int long_status;
    const char* too_long;
  };
  static const LineErrors kRequestLineErrors, kHeaderErrors, kChunkErrors, kTrailerErrors;
  bool refuse(int status, std::string message);  // false
  Step read_head(std::string_view& in);
  bool read_chunk_size(std::string_view& in);
  bool read_trailer(std::string_view& in);
  // Appends to line_. True when the line is complete, without its end; false when it is not, or is refused.
  bool take_line(std::string_view& in, std::size_t limit, const LineErrors& errors);
  bool parse_request_line(std::string_view line);
  bool parse_header(std::string_view line);
  bool interpret_headers();

  State state_ = State::head;
  std::string line_;            // of the head, a chunk's size or a trailer, so far
  std::size_t line_bytes_ = 0;  // of the head's or the trailers' complete lines
  int lines_ = 0;               // of the head
  bool blank_ = false;          // an empty line came before the request line
  std::string method_, path_, query_;
  std::vector<std::pair<std::string, std::string>> headers_;  // names in lower case
  bool chunked_ = false, keep_alive_ = true, http_1_0_ = false, expects_continue_ = false;
  std::uint64_t length_ = 0;
  std::uint64_t left_ = 0;  // bytes of the body or the chunk
  std::string_view piece_;
  int status_ = 0;
  std::string error_;
};

}  // namespace fovea::server
