// What a request asks: its parameters, however they were sent.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "server/http/http.hpp"

namespace fovea::server {

/// An error for the client: a status and one sentence.
class Refusal : public std::exception {
 public:
  Refusal(int status, std::string message, int retry_after = 0)
      : status_(status), retry_after_(retry_after), message_(std::move(message)) {}
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] int retry_after() const { return retry_after_; }  // seconds; 0: not said

 private:
  int status_;
  int retry_after_;
  std::string message_;
};

/// The parameters of a request as one JSON object: from a JSON body, a form (application/x-www-form-urlencoded or
/// multipart/form-data) or the query string. Those of a form and a query are strings, the form's come first.
class Fields {
 public:
  /// Throws Refusal: 400 for what cannot be read, 413 for a body past the limit, 429 when there is no memory for its
  /// values beside those of others.
  explicit Fields(const Request& request);

  /// Null when it is not there. Throws Refusal 400 when it came in a form and is not UTF-8.
  [[nodiscard]] const nlohmann::json& operator[](const char* name) const;
  /// Empty when it is missing or empty; throws Refusal 400 when it is something else than a string.
  [[nodiscard]] std::string text(const char* name) const;
  /// A text, or the bytes of a form's file; empty when it is missing. Throws Refusal 400 for something else.
  [[nodiscard]] std::string bytes(const char* name) const;
  /// A whole number, also as text; `otherwise` when it is missing. Throws Refusal 400.
  [[nodiscard]] int number(const char* name, int otherwise) const;
  /// true, "true", "1" and the like. Throws Refusal 400.
  [[nodiscard]] bool flag(const char* name) const;
  /// Whether the values came as JSON: then line ends are as they were typed.
  [[nodiscard]] bool json() const { return json_; }

 private:
  nlohmann::json values_ = nlohmann::json::object();
  bool json_ = false;
  MemoryReservation memory_;  // of the values; bodies and they share a budget
};

constexpr std::size_t kMostFields = 100;  // of a form or a query

/// %41 as A; broken escapes stay as they are. `plus`: + is a space.
[[nodiscard]] std::string unescape(std::string_view text, bool plus);
/// application/x-www-form-urlencoded as name and value. Throws Refusal 400 for more than 100.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> parse_form(std::string_view body);
/// multipart/form-data as name and value. Throws Refusal 400 when the parts do not fit the boundary or are more than
/// 100.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> parse_multipart(std::string_view body,
                                                                               std::string_view content_type);

/// The parameter api_key of a request, or empty, without keeping anything else of its body: who has no key shall not
/// have megabytes turned into values. Throws Refusal as Fields does, but for a JSON body that is broken.
[[nodiscard]] std::string api_key_of(const Request& request);

}  // namespace fovea::server
