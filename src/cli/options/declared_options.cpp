#include "cli/options/declared_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tasks/generation/options.hpp"
#include "tasks/training/job/requested_training.hpp"

namespace fovea::cli {
namespace {

// --help with the common options alone.
class CommonHelp final : public HelpFormat {
 public:
  CommonHelp(std::set<std::string> common, std::size_t all) : common_(std::move(common)), all_(all) {}

  [[nodiscard]] std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    if (mode == CLI::AppFormatMode::All) return HelpFormat::make_help(app, std::move(name), mode);
    const auto options = app->get_options([&](const CLI::Option* option) {
      return option == app->get_help_ptr() || option == app->get_help_all_ptr() || common_.contains(option->get_name());
    });
    return make_description(app) + make_usage(app, std::move(name)) + make_group("Common options", false, options) +
           fmt::format("\n--help-all shows all {} options in groups.\n", all_);
  }

 private:
  std::set<std::string> common_;
  std::size_t all_;
};

}  // namespace

void add_declared(CLI::App& command, const std::vector<OptionInfo>& options, OptionValues& values) {
  std::set<std::string> common;
  for (const OptionInfo& info : options) {
    const std::string option = "--" + info.name;
    if (info.common) common.insert(option);
    if (info.is_switch) {
      command
          .add_flag_callback(
              option, [&values, name = info.name] { values.give(name, "true"); }, info.help)
          ->group(info.group);
      continue;
    }
    command
        .add_option_function<std::string>(
            option, [&values, name = info.name](const std::string& text) { values.give(name, text); }, info.help)
        ->group(info.group)
        ->type_name(info.value)
        ->default_str(info.usual)
        ->run_callback_for_default(false);
  }
  if (common.empty()) return;
  command.set_help_all_flag("--help-all", "Print all options in groups and exit");
  common.insert("--config");
  command.formatter(std::make_shared<CommonHelp>(std::move(common), options.size()));
}

std::string shown(const UsageError& error, const CLI::App& command) {
  if (error.field().empty()) return error.what();
  std::vector<std::string> names{"--" + option_name(error.field())};
  // Options that do not have their field's name: a switch that turns it off, and some of fovea run.
  for (const OptionInfo& option : training_options()) {
    if (member_name(option.field) == error.field()) names.push_back("--" + option.name);
  }
  each_generate_option([&](const TaskOption& option, auto /*member*/) {
    if (option.name == error.field()) names.push_back(option.command_line_name());
  });
  for (const std::string& name : names) {
    if (command.get_option_no_throw(name) != nullptr) return fmt::format("{}: {}", name, error.problem());
  }
  return error.what();
}

std::string shown(const CLI::ParseError& error, const CLI::App& command) {
  const std::string text = error.what();
  constexpr std::string_view begin = "Could not convert: ";  // as in "Could not convert: --dim = wide"
  const std::size_t equals = text.find(" = ");
  if (!text.starts_with(begin) || equals == text.npos) return text;
  const std::string name = text.substr(begin.size(), equals - begin.size());
  const CLI::Option* option = command.get_option_no_throw(name);
  const bool fraction = option != nullptr && option->get_type_name().starts_with("FLOAT");
  return name + ": \"" + text.substr(equals + 3) + "\" is not a " + (fraction ? "number" : "whole number");
}

}  // namespace fovea::cli
