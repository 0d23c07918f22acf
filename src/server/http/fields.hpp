// The parameters of a request, in any encoding.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "server/http/request.hpp"

namespace fovea::server {

/// An error for the client: a status and a sentence.
class Refusal : public std::exception {
 public:
  Refusal(int status, std::string message, int retry_after = 0)
      : status_(status), retry_after_(retry_after), message_(std::move(message)) {}
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] int retry_after() const { return retry_after_; }  // seconds; 0: none

 private:
  int status_;
  int retry_after_;
  std::string message_;
};

/// The parameters of a request as one JSON object: from a JSON body, a form (application/x-www-form-urlencoded or
/// multipart/form-data) or the query string. Values of a form and a query are strings; the form wins.
class Fields {
 public:
  /// Throws Refusal: 400 for an unreadable body, 413 for one above the limit, 429 when the memory budget is used up.
  explicit Fields(const Request& request);

  /// Null when it is missing. Throws Refusal 400 for a value of a form that is not UTF-8.
  [[nodiscard]] const nlohmann::json& operator[](const char* name) const;
  /// Empty when it is missing or empty. Throws Refusal 400 when it is not a string.
  [[nodiscard]] std::string text(const char* name) const;
  /// A string, or the bytes of a form's file; empty when it is missing. Throws Refusal 400 for anything else.
  [[nodiscard]] std::string bytes(const char* name) const;
  /// A whole number, also as text; `otherwise` when it is missing. Throws Refusal 400.
  [[nodiscard]] int number(const char* name, int otherwise) const;
  /// true, "true", "1" and the like. Throws Refusal 400.
  [[nodiscard]] bool flag(const char* name) const;
  /// Whether the values were sent as JSON, which keeps line ends as typed.
  [[nodiscard]] bool json() const { return json_; }

 private:
  nlohmann::json values_ = nlohmann::json::object();
  bool json_ = false;
  MemoryReservation memory_;  // of the values, from the budget of bodies
};

constexpr std::size_t kMostFields = 100;  // of a form or a query

/// Decodes %41 as A; invalid escapes stay. `plus`: + becomes a space.
[[nodiscard]] std::string unescape(std::string_view text, bool plus);
/// application/x-www-form-urlencoded as name and value. Throws Refusal 400 for more than 100.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> parse_form(std::string_view body);
/// multipart/form-data as name and value. Throws Refusal 400 when the parts do not match the boundary or exceed 100.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> parse_multipart(std::string_view body,
                                                                               std::string_view content_type);

/// The parameter api_key of a request, or empty. Stores nothing else of a JSON body, so that a client without a key
/// cannot make the server build megabytes of values. Throws Refusal as Fields does, except for invalid JSON.
[[nodiscard]] std::string api_key_of(const Request& request);

}  // namespace fovea::server
