// Values of fields as text: of a command line, a TOML file, or a keyword.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

#include "fovea/fields.hpp"

namespace fovea {

/// The field's name in C++ and Python, "max_length", and back to "max-length".
[[nodiscard]] std::string member_name(std::string_view option);
[[nodiscard]] std::string option_name(std::string_view member);

/// Throws UsageError "max_length: problem".
[[noreturn]] void refuse(const Field& field, std::string_view problem);

// Each throws UsageError naming the field when the text is no such value.
void parse_value(const Field& field, const std::string& text, bool& value);
void parse_value(const Field& field, const std::string& text, int& value);
void parse_value(const Field& field, const std::string& text, std::int64_t& value);
void parse_value(const Field& field, const std::string& text, std::uint64_t& value);
void parse_value(const Field& field, const std::string& text, float& value);
void parse_value(const Field& field, const std::string& text, double& value);
void parse_value(const Field& field, const std::string& text, std::string& value);
void parse_value(const Field& field, const std::string& text, std::filesystem::path& value);
void parse_value(const Field& field, const std::string& text, std::vector<int>& value);
void parse_value(const Field& field, const std::string& text, std::array<int, 2>& value);
template <class E>
requires std::is_enum_v<E>
void parse_value(const Field& field, const std::string& text, E& value) {
  value = enum_value<E>(text, member_name(field.name));
}

// A value as parse_value() reads it.
[[nodiscard]] std::string value_text(bool value);
[[nodiscard]] std::string value_text(int value);
[[nodiscard]] std::string value_text(std::int64_t value);
[[nodiscard]] std::string value_text(std::uint64_t value);
[[nodiscard]] std::string value_text(float value);
[[nodiscard]] std::string value_text(double value);
[[nodiscard]] std::string value_text(const std::string& value);
[[nodiscard]] std::string value_text(const std::filesystem::path& value);
[[nodiscard]] std::string value_text(const std::vector<int>& value);
[[nodiscard]] std::string value_text(const std::array<int, 2>& value);
template <class E>
requires std::is_enum_v<E>
[[nodiscard]] std::string value_text(E value) {
  return enum_text(value);
}

/// Throws UsageError "layers: must be from 1 to 64, is 0". `text`: the value as it was written.
void check_number(const Field& field, double value, const std::string& text);

/// The same for any value; what is not a number has no range.
template <class T>
void check_range(const Field& field, const T& value) {
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    check_number(field, static_cast<double>(value), value_text(value));
  } else if constexpr (std::is_same_v<T, std::vector<int>> || std::is_same_v<T, std::array<int, 2>>) {
    for (const int one : value) check_number(field, one, value_text(one));
  }
}

}  // namespace fovea
