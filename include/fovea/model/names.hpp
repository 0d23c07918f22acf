// The names of enum values, as files and options spell them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "fovea/export.hpp"

namespace FOVEA_API fovea {

/// A value of an enum and how files and options spell it.
template <class E>
struct EnumName {
  E value;           // the value
  const char* name;  // its name
};

/// Every value of an enum with its name; specialised next to the enum's users.
template <class E>
std::span<const EnumName<E>> enum_names();

/// The name of a value.
template <class E>
std::string enum_text(E value) {
  for (const auto& entry : enum_names<E>()) {
    if (entry.value == value) return entry.name;
  }
  return "?";
}

namespace detail {
[[noreturn]] void unknown_name(std::string_view what, std::string_view text, const std::string& possible);
}

/// Throws UsageError naming `what` and the possible values.
template <class E>
E enum_value(std::string_view text, std::string_view what) {
  std::string possible;
  for (const auto& entry : enum_names<E>()) {
    if (text == entry.name) return entry.value;
    possible += (possible.empty() ? "" : ", ") + std::string(entry.name);
  }
  detail::unknown_name(what, text, possible);
}

}  // namespace fovea
