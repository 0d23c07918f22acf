#include "cli/run/run_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "cli/options/whole_number.hpp"
#include "fovea/error.hpp"
#include "tasks/generation/options.hpp"

namespace fovea::cli {

std::vector<AttentionKind> RunOptions::kinds() const {
  std::vector<AttentionKind> kinds;
  for (const AttentionKindInfo& info : attention_kinds) {
    if (kind == "all" || kind == info.name) kinds.push_back(info.kind);
  }
  if (kinds.empty())
    throw UsageError(fmt::format("--kind: \"{}\" is not one of {}, all", kind, attention_kind_names()));
  return kinds;
}

void add_generate_options(CLI::App& command, GenerateOptions& options, std::initializer_list<std::string_view> except) {
  each_generate_option([&](const TaskOption& option, auto field) {
    using Value = std::remove_cvref_t<decltype(options.*field)>;
    if (std::find(except.begin(), except.end(), option.name) != except.end()) return;
    const std::string name = option.command_line_name();
    const std::string help(option.help);
    if constexpr (std::is_same_v<Value, bool>) {
      command.add_flag(name, options.*field, help);
    } else if constexpr (std::is_same_v<Value, std::uint64_t>) {
      command.add_option(name, options.*field, help)->check(whole_number());
    } else if constexpr (std::is_arithmetic_v<Value> || std::is_same_v<Value, std::optional<int>>) {
      auto* added = command.add_option(name, options.*field, help);
      if (option.name == "layer" || option.name == "head") added->check(whole_number(1000));
    }
  });
}

namespace {

// The entry of the table with this name on the command line; without a name if there is none.
TaskOption task_option(const std::string& command_line_name) {
  TaskOption found{{}, all_tasks, {}};
  each_generate_option([&](const TaskOption& option, auto) {
    if (option.command_line_name() == command_line_name) found = option;
  });
  for (const TaskOption& option : run_only_options) {
    if (option.command_line_name() == command_line_name) found = option;
  }
  return found;
}

}  // namespace

std::string help_of(std::string_view name) {
  return std::string(task_option(std::string(name)).help);
}

void check_given_options(const CLI::App& command, Task task) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() > 0) task_option(option->get_name()).check(task, option->get_name());
  }
}

}  // namespace fovea::cli
