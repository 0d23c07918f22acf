// One declaration per option. An options struct lists its fields once, in a static member template:
//
//     template <class Self, class Visit>
//     static void fields(Self& c, const Visit& visit) {
//       visit(c.layers, {.name = "layers", .range = between(1, 64), .group = "Model", .help = "number of layers"});
//     }
//
// The list serves config.json, range checks, the command line with its help, TOML files and Python's keywords.
#pragma once

#include <limits>
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

/// Every value of an enum with its name; defined next to the enum's users.
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

/// All names of an enum: "pre, post".
template <class E>
std::string enum_list() {
  std::string names;
  for (const auto& entry : enum_names<E>()) names += (names.empty() ? "" : ", ") + std::string(entry.name);
  return names;
}

namespace detail {
[[noreturn]] void unknown_name(std::string_view field, std::string_view text, const std::string& possible);
}

/// Throws UsageError naming `field` and the possible values.
template <class E>
E enum_value(std::string_view text, std::string_view field) {
  for (const auto& entry : enum_names<E>()) {
    if (text == entry.name) return entry.value;
  }
  detail::unknown_name(field, text, enum_list<E>());
}

/// The numbers that a field can have; NaN and infinity are in no range.
struct Range {
  double least = std::numeric_limits<double>::lowest();  // smallest
  double most = std::numeric_limits<double>::max();      // largest
  bool above_least = false;                              // `least` itself is excluded
  bool below_most = false;                               // `most` itself is excluded
};
/// From `least` to `most`, both included.
constexpr Range between(double least, double most) {
  return {.least = least, .most = most};
}
/// From `least` on.
constexpr Range at_least(double least) {
  return {.least = least};
}
/// Above `least`.
constexpr Range more_than(double least) {
  return {.least = least, .above_least = true};
}
/// From 0 up to, but not including, 1: a probability or a decay.
constexpr Range below_one() {
  return {.least = 0, .most = 1, .below_most = true};
}

/// Whether a field has an effect. It is made after the fields that it depends on have been visited: a visit may set
/// them.
struct Uses {
  bool here = true;        // it has one
  const char* needs = "";  // otherwise: what it needs, as in "positions learned"
};

/// A field of an options struct: what files, checks, help and callers need to know of it.
struct Field {
  const char* name;                // in files, as an option and as a keyword: "max-length"
  Range range{};                   // of numbers
  Uses uses{};                     // without an effect it is not written to files, and refused as an option
  bool may_be_absent = false;      // files may leave it out, and do where it has its default
  const char* group = "";          // heading in the help
  const char* help = nullptr;      // one line, understandable alone; null: files have the field, options do not
  const char* value = nullptr;     // placeholder in the help, such as FILE; null: by the type
  const char* usual = nullptr;     // default in words, where it depends on the data; null: the value itself
  const char* negative = nullptr;  // name of the switch that turns a bool off
  bool common = false;             // in --help, not only in --help-all
};

}  // namespace fovea
