#include "server/http/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/json.hpp"
#include "fovea/error.hpp"
#include "server/http/ascii.hpp"
#include "text/unicode.hpp"

namespace fovea::server {
namespace {

[[noreturn]] void wrong(const char* name, const char* what) {
  throw Refusal(400, fmt::format("Invalid request: {} parameter is not {}", name, what));
}

bool has_json(const Request& request, const std::string& type) {
  if (type.starts_with("application/x-www-form-urlencoded") || type.starts_with("multipart/form-data")) return false;
  return (type.starts_with("application/json") && (!request.body.empty() || request.query.empty())) ||
         request.body.starts_with('{');
}

// Finds the string api_key of the outermost object and stops there.
class KeyReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::string found;

  bool key(string_t& name) override {
    here_ = depth_ == 1 && name == "api_key";
    return true;
  }
  bool string(string_t& text) override {
    if (!here_) return true;
    found = text;
    return false;
  }
  bool start_object(std::size_t) override { return begin(); }
  bool start_array(std::size_t) override { return begin(); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool null() override { return other(); }
  bool boolean(bool) override { return other(); }
  bool number_integer(number_integer_t) override { return other(); }
  bool number_unsigned(number_unsigned_t) override { return other(); }
  bool number_float(number_float_t, const string_t&) override { return other(); }
  bool binary(binary_t&) override { return other(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  bool begin() {
    here_ = false;
    return ++depth_ <= 64;
  }
  bool end() {
    --depth_;
    return true;
  }
  bool other() {
    here_ = false;
    return true;
  }
  int depth_ = 0;
  bool here_ = false;
};

// An upper bound of the values of a body: its strings, and for each JSON value an entry of a growing list or a node of
// a map.
std::size_t bytes_of_values(const std::string& body, bool json) {
  constexpr std::size_t of_mark = 96;
  const auto mark = [](char c) { return c == '[' || c == '{' || c == ',' || c == ':'; };
  const auto marks = json ? std::count_if(body.begin(), body.end(), mark) : 0;
  return body.size() + of_mark * static_cast<std::size_t>(marks);
}

}  // namespace

std::string api_key_of(const Request& request) {
  if (request.too_large || !has_json(request, lower(request.content_type))) return Fields(request).text("api_key");
  KeyReader reader;
  (void)nlohmann::json::sax_parse(request.body, &reader);
  return std::move(reader.found);
}

Fields::Fields(const Request& request) {
  if (request.too_large) throw Refusal(413, "Invalid request: the body is too large");
  const std::string type = lower(request.content_type);
  std::vector<std::pair<std::string, std::string>> pairs;
  const bool form = type.starts_with("application/x-www-form-urlencoded");
  const bool multipart = type.starts_with("multipart/form-data");
  memory_ = request.memory.sibling();
  if (!memory_.grow(bytes_of_values(request.body, !form && !multipart))) {
    throw Refusal(429, "Slowdown: too many requests are being read", 2);
  }
  if (form) {
    pairs = parse_form(request.body);
  } else if (multipart) {
    pairs = parse_multipart(request.body, request.content_type);
  } else if (has_json(request, type)) {
    try {
      values_ = parse_json(request.body, "body", request.canceled);
    } catch (const FileError&) {
      throw Refusal(400, "Invalid JSON format");
    } catch (const Error&) {
      throw Refusal(503, "the server is stopping", 1);  // or the client has disconnected
    }
    if (!values_.is_object()) throw Refusal(400, "Invalid JSON format");
    json_ = true;
    return;
  }
  pairs.insert(pairs.end(), request.query.begin(), request.query.end());
  for (auto& [name, value] : pairs) {
    if (text::invalid_utf8(name) != std::string_view::npos) continue;
    if (values_.contains(name)) continue;
    if (text::invalid_utf8(value) == std::string_view::npos) {
      values_[name] = std::move(value);
    } else if (multipart) {  // a file
      values_[name] = nlohmann::json::binary({value.begin(), value.end()});
    } else {
      wrong(name.c_str(), "UTF-8");
    }
  }
}

const nlohmann::json& Fields::operator[](const char* name) const {
  static const nlohmann::json nothing;
  const auto found = values_.find(name);
  if (found == values_.end()) return nothing;
  if (found->is_binary()) wrong(name, "UTF-8");
  return *found;
}

std::string Fields::bytes(const char* name) const {
  const auto found = values_.find(name);
  if (found == values_.end() || !found->is_binary()) return text(name);
  const auto& binary = found->get_binary();
  return {binary.begin(), binary.end()};
}

std::string Fields::text(const char* name) const {
  const nlohmann::json& value = (*this)[name];
  if (value.is_null()) return {};
  if (!value.is_string()) wrong(name, "a string");
  return value.get<std::string>();
}

int Fields::number(const char* name, int otherwise) const {
  const nlohmann::json& value = (*this)[name];
  constexpr double most = 1e9;
  if (value.is_null()) return otherwise;
  if (value.is_number()) {
    const double n = value.get<double>();
    if (!(std::abs(n) <= most)) wrong(name, "a number from -1e9 to 1e9");
    if (n != std::floor(n)) wrong(name, "a whole number");
    return static_cast<int>(n);
  }
  if (!value.is_string()) wrong(name, "a number");
  const std::string& text = value.get_ref<const std::string&>();
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size()) wrong(name, "a number");
  return n;
}

bool Fields::flag(const char* name) const {
  const nlohmann::json& value = (*this)[name];
  if (value.is_null()) return false;
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>() != 0;
  const std::string text = value.is_string() ? lower(value.get<std::string>()) : "?";
  if (text == "true" || text == "1" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "0" || text == "no" || text == "off" || text.empty()) return false;
  wrong(name, "true or false");
}

}  // namespace fovea::server
