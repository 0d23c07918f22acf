#include "base/option_values.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/error.hpp"

namespace fovea {

std::string OptionValues::text(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::string() : found->second.text;
}

std::string OptionValues::take(std::string_view name) {
  const auto found = values_.find(name);
  if (found == values_.end()) return {};
  found->second.taken = true;
  return found->second.text;
}

void OptionValues::refuse_value(const std::string& name, const std::string& needs, const std::string& owner) {
  const std::string field = member_name(name);
  if (!needs.empty()) throw UsageError(field, "has no effect without " + needs);
  if (owner.empty()) throw UsageError(field, "there is no such option");
  throw UsageError(field, fmt::format("has no effect here; it belongs to: {}", owner));
}

namespace detail {

OptionInfo option_info(const Field& field, const std::string& usual, const char* value, const std::string& choices) {
  OptionInfo info;
  info.name = info.field = field.name;
  info.group = field.group;
  info.help = choices.empty() ? field.help : fmt::format("{}: {}", field.help, choices);
  info.value = field.value != nullptr ? field.value : value;
  info.usual = field.usual != nullptr ? field.usual : usual;
  info.common = field.common;
  return info;
}

void add_option(std::vector<OptionInfo>& all, std::string_view owner, OptionInfo option) {
  const auto same =
      std::find_if(all.begin(), all.end(), [&](const OptionInfo& other) { return other.name == option.name; });
  if (same == all.end()) {
    option.owners = owner;
    all.push_back(std::move(option));
    return;
  }
  if (same->owners.find(owner) == std::string::npos) same->owners.append(", ").append(owner);
  if (same->usual != option.usual) same->usual = "depends on the model";
}

}  // namespace detail
}  // namespace fovea
