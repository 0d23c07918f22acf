#include "interop/yaml.hpp"

#include <fmt/format.h>

#include <optional>

#include "fovea/error.hpp"

namespace fovea::interop {
namespace {

// The next line, without its end.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view trimmed(std::string_view s) {
  while (s.starts_with(' ')) s.remove_prefix(1);
  while (s.ends_with(' ')) s.remove_suffix(1);
  return s;
}

std::string four_hex(std::string_view digits) {  // a code point below 65536 as UTF-8
  unsigned code = 0;
  for (const char c : digits) {
    code = code * 16 + static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  std::string out;
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xE0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
  return out;
}

bool is_hex(std::string_view s) {
  return s.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

std::string unquoted(std::string_view s) {
  if (s.size() >= 2 && s.front() == '\'' && s.back() == '\'') {
    std::string out;
    for (std::size_t i = 1; i + 1 < s.size(); ++i) {
      out += s[i];
      if (s[i] == '\'' && s[i + 1] == '\'' && i + 2 < s.size()) ++i;
    }
    return out;
  }
  if (s.size() >= 2 && s.front() == '"' && s.back() == '"') {
    std::string out;
    const std::string_view inner = s.substr(1, s.size() - 2);
    for (std::size_t i = 0; i < inner.size(); ++i) {
      if (inner[i] != '\\' || i + 1 == inner.size()) {
        out += inner[i];
        continue;
      }
      const char c = inner[++i];
      const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : 0;
      if (digits > 0 && i + digits < inner.size() + 0 && is_hex(inner.substr(i + 1, digits)) &&
          inner.substr(i + 1, digits).size() == digits) {
        out += four_hex(inner.substr(i + 1, digits));
        i += digits;
      } else {
        out += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
      }
    }
    return out;
  }
  return std::string(s);
}

}  // namespace

std::map<std::string, std::string> parse_flat_yaml(std::string_view text, const std::string& where) {
  std::map<std::string, std::string> out;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || line.starts_with(' ') || line.starts_with('-') || line.starts_with('#'))
      continue;
    const std::string name = unquoted(trimmed(line.substr(0, colon)));
    if (!out.emplace(name, unquoted(trimmed(line.substr(colon + 1)))).second) {
      throw FileError(fmt::format("{}: duplicate {}", where, name));
    }
  }
  return out;
}

std::vector<std::string> parse_yaml_ids(std::string_view text, const std::string& where) {
  std::map<std::uint64_t, std::string> by_id;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (trimmed(line).empty()) continue;
    const std::size_t colon = line.rfind(':');
    const std::string_view digits =
        colon == std::string_view::npos ? std::string_view() : trimmed(line.substr(colon + 1));
    if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string_view::npos) {
      throw FileError(fmt::format("{}: line {} is not a token, a colon and an id", where, number));
    }
    const std::uint64_t id = std::stoull(std::string(digits));
    if (!by_id.emplace(id, unquoted(trimmed(line.substr(0, colon)))).second) {
      throw FileError(fmt::format("{}: line {}: duplicate id {}", where, number, id));
    }
  }
  std::vector<std::string> tokens;
  for (const auto& [id, token] : by_id) {
    if (id != tokens.size()) throw FileError(fmt::format("{}: the id {} is missing", where, tokens.size()));
    tokens.push_back(token);
  }
  return tokens;
}

}  // namespace fovea::interop
