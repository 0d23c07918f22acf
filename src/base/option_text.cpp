#include "base/option_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "fovea/error.hpp"

namespace fovea {

void detail::unknown_name(std::string_view field, std::string_view text, const std::string& possible) {
  throw UsageError(field, fmt::format("\"{}\" is not one of {}", text, possible));
}

namespace {

std::string with(std::string_view text, char from, char to) {
  std::string out(text);
  std::replace(out.begin(), out.end(), from, to);
  return out;
}

// The whole text as a number.
template <class T>
void parse_number(const Field& field, std::string_view text, T& value) {
  const char* end = text.data() + text.size();
  const auto [stop, trouble] = std::from_chars(text.data(), end, value);
  if (trouble == std::errc() && stop == end && !text.empty()) return;
  constexpr bool whole = std::is_integral_v<T>;
  const bool too_large = trouble == std::errc::result_out_of_range && stop == end;
  refuse(field, fmt::format("\"{}\" is {}", text,
                            too_large               ? "too large a number"
                            : !whole                ? "not a number"
                            : std::is_unsigned_v<T> ? "not a whole number from 0 on"
                                                    : "not a whole number"));
}

std::vector<int> parse_list(const Field& field, std::string_view text) {
  std::vector<int> values;
  for (;;) {
    const std::size_t comma = std::min(text.find(','), text.size());
    parse_number(field, text.substr(0, comma), values.emplace_back());
    if (comma == text.size()) return values;
    text.remove_prefix(comma + 1);
  }
}

void check_not_empty(const Field& field, const std::string& text) {
  if (text.empty()) refuse(field, "must not be empty");
}

}  // namespace

std::string member_name(std::string_view option) {
  return with(option, '-', '_');
}

std::string option_name(std::string_view member) {
  return with(member, '_', '-');
}

void refuse(const Field& field, std::string_view problem) {
  throw UsageError(member_name(field.name), problem);
}

void parse_value(const Field& field, const std::string& text, bool& value) {
  if (text != "true" && text != "false") refuse(field, fmt::format("must be true or false, is \"{}\"", text));
  value = text == "true";
}
void parse_value(const Field& field, const std::string& text, int& value) {
  parse_number(field, text, value);
}
void parse_value(const Field& field, const std::string& text, std::int64_t& value) {
  parse_number(field, text, value);
}
void parse_value(const Field& field, const std::string& text, std::uint64_t& value) {
  parse_number(field, text, value);
}
void parse_value(const Field& field, const std::string& text, float& value) {
  parse_number(field, text, value);
}
void parse_value(const Field& field, const std::string& text, double& value) {
  parse_number(field, text, value);
}
void parse_value(const Field& field, const std::string& text, std::string& value) {
  check_not_empty(field, text);
  value = text;
}
void parse_value(const Field& field, const std::string& text, std::filesystem::path& value) {
  check_not_empty(field, text);
  value = text;
}
void parse_value(const Field& field, const std::string& text, std::vector<int>& value) {
  value = parse_list(field, text);
}
void parse_value(const Field& field, const std::string& text, std::array<int, 2>& value) {
  const std::vector<int> two = parse_list(field, text);
  if (two.size() != 2) refuse(field, fmt::format("\"{}\" is not two numbers, as in 1,2", text));
  value = {two[0], two[1]};
}

std::string value_text(bool value) {
  return value ? "true" : "false";
}
std::string value_text(int value) {
  return fmt::format("{}", value);
}
std::string value_text(std::int64_t value) {
  return fmt::format("{}", value);
}
std::string value_text(std::uint64_t value) {
  return fmt::format("{}", value);
}
std::string value_text(float value) {
  return fmt::format("{}", value);
}
std::string value_text(double value) {
  return fmt::format("{}", value);
}
std::string value_text(const std::string& value) {
  return value;
}
std::string value_text(const std::filesystem::path& value) {
  return value.string();
}
std::string value_text(const std::vector<int>& value) {
  return fmt::format("{}", fmt::join(value, ","));
}
std::string value_text(const std::array<int, 2>& value) {
  return fmt::format("{}", fmt::join(value, ","));
}

void check_number(const Field& field, double value, const std::string& text) {
  const Range& r = field.range;
  const bool low = r.above_least ? value > r.least : value >= r.least;
  const bool high = r.below_most ? value < r.most : value <= r.most;
  if (low && high) return;
  const Range any{};
  std::string possible;
  if (r.least == any.least) {
    possible = "a finite number";
  } else if (r.most == any.most) {
    possible = fmt::format("{} {}", r.above_least ? "more than" : "at least", r.least);
  } else if (r.below_most) {
    possible = fmt::format("at least {} and less than {}", r.least, r.most);
  } else {
    possible = fmt::format("from {} to {}", r.least, r.most);
  }
  refuse(field, fmt::format("must be {}, is {}", possible, text));
}

}  // namespace fovea
