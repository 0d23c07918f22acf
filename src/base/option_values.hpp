// Options by name, from the command line, a TOML file or Python's keywords, and the structs that they fill.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/option_text.hpp"

namespace fovea {

/// The values that were given. Each struct that has options takes its own with fill(); refuse_unused() then throws for
/// what none of them has taken.
class OptionValues {
 public:
  void give(const std::string& name, const std::string& text) { values_[name].text = text; }
  [[nodiscard]] bool given(std::string_view name) const { return values_.find(name) != values_.end(); }
  /// Empty when it was not given.
  [[nodiscard]] std::string text(std::string_view name) const;
  /// The value of an option, which is thereby taken; empty when it was not given.
  std::string take(std::string_view name);

  /// Sets the fields of `config` that were given. Throws UsageError for a value that the field cannot have. `context`
  /// goes to Config::fields(), which may say by it which fields have an effect.
  template <class Config, class... Context>
  void fill(Config& config, const Context&... context) {
    Config::fields(
        config, [this](auto& value, const Field& field) { set(value, field); }, context...);
  }

  /// Throws UsageError for the first option that no struct has taken. `owner(name)` says where it belongs, as in
  /// "transformer encoder"; empty: there is no such option.
  template <class Owner>
  void refuse_unused(const Owner& owner) const {
    for (const auto& [name, value] : values_) {
      if (!value.taken && value.text != "false") refuse_value(name, value.needs, owner(name));
    }
  }

 private:
  struct Value {
    std::string text{};
    bool taken = false;
    std::string needs{};  // of a field that has it, but no use for it
  };

  template <class T>
  void set(T& value, const Field& field) {
    if (field.help == nullptr) return;
    set(value, field, field.name);
    if constexpr (std::is_same_v<T, bool>) {
      bool off = false;
      if (field.negative != nullptr && set(off, field, field.negative) && off) value = false;
    }
  }
  template <class T>
  bool set(T& value, const Field& field, const char* name) {
    const auto found = values_.find(std::string_view(name));
    if (found == values_.end()) return false;
    if (!field.uses.here) {
      found->second.needs = field.uses.needs;
      return false;
    }
    parse_value(field, found->second.text, value);
    check_range(field, value);
    return found->second.taken = true;
  }
  [[noreturn]] static void refuse_value(const std::string& name, const std::string& needs, const std::string& owner);

  std::map<std::string, Value, std::less<>> values_;
};

/// Checks the ranges of all fields that have an effect. Throws UsageError naming the field.
template <class Config, class... Context>
void check_ranges(const Config& config, const Context&... context) {
  Config::fields(
      config,
      [](const auto& value, const Field& field) {
        if (field.uses.here) check_range(field, value);
      },
      context...);
}

/// Throws UsageError naming a field that has no effect and yet is not what it is in `usual`.
template <class Config, class... Context>
void check_unused(const Config& config, const Config& usual, const Context&... context) {
  std::map<std::string_view, std::string> texts;
  Config::fields(
      usual, [&](const auto& value, const Field& field) { texts[field.name] = value_text(value); }, context...);
  Config::fields(
      config,
      [&](const auto& value, const Field& field) {
        if (field.uses.here || value_text(value) == texts[field.name]) return;
        refuse(field, std::string("has no effect without ").append(field.uses.needs));
      },
      context...);
}

/// An option as help and error messages describe it.
struct OptionInfo {
  std::string name{}, group{}, help{}, value{}, usual{};
  bool is_switch = false;
  bool common = false;
  std::string field{};   // that it sets; another name than its own for the switch that turns a field off
  std::string owners{};  // the parts that have it: "rnn encoder, rnn decoder"
};

/// Adds the options of `config`, a part called `owner`, to those that are there. Several parts can have one option.
template <class Config, class... Context>
void list_options(std::vector<OptionInfo>& all, std::string_view owner, const Config& config,
                  const Context&... context);

namespace detail {
void add_option(std::vector<OptionInfo>& all, std::string_view owner, OptionInfo option);
[[nodiscard]] OptionInfo option_info(const Field& field, const std::string& usual, const char* value,
                                     const std::string& choices);
template <class T>
constexpr const char* placeholder() {
  if constexpr (std::is_enum_v<T>) return "NAME";
  if constexpr (std::is_floating_point_v<T>) return "X";
  if constexpr (std::is_integral_v<T>) return "N";
  if constexpr (std::is_same_v<T, std::filesystem::path>) return "FILE";
  return "TEXT";
}
}  // namespace detail

template <class Config, class... Context>
void list_options(std::vector<OptionInfo>& all, std::string_view owner, const Config& config,
                  const Context&... context) {
  Config::fields(
      config,
      [&]<class T>(const T& value, const Field& field) {
        if (field.help == nullptr) return;
        std::string choices;
        if constexpr (std::is_enum_v<T>) choices = enum_list<T>();
        OptionInfo info = detail::option_info(field, value_text(value), detail::placeholder<T>(), choices);
        info.is_switch = std::is_same_v<T, bool>;
        if (field.negative != nullptr) {
          OptionInfo off = info;
          off.name = field.negative;
          detail::add_option(all, owner, off);
        }
        if constexpr (std::is_same_v<T, bool>) {
          if (value) return;  // only turned off
        }
        detail::add_option(all, owner, std::move(info));
      },
      context...);
}

}  // namespace fovea
