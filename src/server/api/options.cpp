#include "server/api/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <type_traits>

#include "fovea/decode/search.hpp"
#include "fovea/error.hpp"
#include "server/api/api.hpp"
#include "tasks/generation/options.hpp"

namespace fovea::server {
namespace {

constexpr int kLongestOutput = 1000;  // tokens: time grows with the square of the length

// Options of the library that requests have by another name, or not at all.
constexpr std::pair<std::string_view, std::string_view> kNotOffered[] = {
    {"n_best", "ask for alternatives of a translation"},
    {"kinds", "POST /attention takes kind"},
    {"top_weights", "POST /attention takes top"},
    {"interventions", "POST /attention takes them"},
    {"batch_tokens", "the server makes its own batches"},
    {"scores", "answers have them always"},
    {"skip_unreadable", "an input that cannot be read is an error"},
};

// Why an option is not offered; empty: it is.
std::string_view not_offered(std::string_view name) {
  for (const auto& [option, instead] : kNotOffered) {
    if (name == option) return instead;
  }
  return {};
}

float fraction_of(const Fields& fields, const char* name) {
  const nlohmann::json& value = fields[name];
  try {
    if (value.is_number()) return value.get<float>();
    std::size_t used = 0;
    const std::string text = fields.text(name);
    const float number = std::stof(text, &used);
    if (used == text.size()) return number;
  } catch (const std::logic_error&) {  // no number at all, or one that is too large
  }
  throw Refusal(400, fmt::format("Invalid request: {} parameter is not a number", name));
}

template <class Value>
void read_option(const Fields& fields, const char* name, Value& value) {
  if constexpr (std::is_same_v<Value, bool>) {
    value = fields.flag(name);
  } else if constexpr (std::is_same_v<Value, float>) {
    value = fraction_of(fields, name);
  } else if constexpr (std::is_same_v<Value, std::uint64_t>) {
    value = static_cast<std::uint64_t>(std::max(0, fields.number(name, 0)));
  } else if constexpr (std::is_same_v<Value, int> || std::is_same_v<Value, std::optional<int>>) {
    value = fields.number(name, 0);
  }
}

void check_limits(const Fields& fields, const GenerateOptions& options) {
  if (!fields["beam"].is_null() && (options.beam < 1 || options.beam > kWidestBeam)) {
    throw Refusal(400, fmt::format("Invalid request: beam parameter must be 1 to {}", kWidestBeam));
  }
  for (const auto& [name, length] :
       {std::pair("max_length", options.max_length.value_or(0)), {"min_length", options.min_length}}) {
    if (length > kLongestOutput) {
      throw Refusal(400, fmt::format("Invalid request: {} parameter must be at most {}", name, kLongestOutput));
    }
  }
  check_search(options);
}

}  // namespace

void read_options(const Fields& fields, Task task, GenerateOptions& options,
                  std::initializer_list<std::string_view> own) {
  try {
    each_generate_option([&](const TaskOption& option, auto field) {
      const std::string name(option.name);
      if (fields[name.c_str()].is_null() || std::find(own.begin(), own.end(), name) != own.end()) return;
      option.check(task, name + " parameter");
      if (const auto instead = not_offered(name); !instead.empty()) {
        throw Refusal(400, fmt::format("Invalid request: {} parameter: {}", name, instead));
      }
      read_option(fields, name.c_str(), options.*field);
    });
    check_limits(fields, options);
  } catch (const UsageError& error) {
    throw Refusal(400, fmt::format("Invalid request: {}", error.what()));
  }
}

std::vector<OfferedOption> offered_options(Task task) {
  std::vector<OfferedOption> offered;
  const GenerateOptions defaults;
  each_generate_option([&](const TaskOption& option, auto field) {
    using Value = std::remove_cvref_t<decltype(defaults.*field)>;
    if (!option.tasks.has(task) || !not_offered(option.name).empty() || option.name == "attention") return;
    const char* type = std::is_same_v<Value, bool> ? "boolean" : std::is_same_v<Value, float> ? "number" : "integer";
    offered.push_back({std::string(option.name), type, std::string(option.help)});
  });
  return offered;
}

}  // namespace fovea::server
