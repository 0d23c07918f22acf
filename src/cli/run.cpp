#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <iterator>
#include <memory>
#include <new>
#include <ostream>
#include <string_view>

#include "base/processes.hpp"
#include "cli/command.hpp"
#include "cli/options/declared_options.hpp"
#include "cli/options/help_format.hpp"
#include "fovea/error.hpp"
#include "kernels/kernels.hpp"

namespace fovea::cli {
namespace {

// One line, whatever the message holds: names of files and options may hold anything.
int fail(const Streams& streams, std::string message, int code) {
  std::replace_if(
      message.begin(), message.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  const Processes& all = processes();
  streams.err << "fovea: " << (all.alone() ? "" : fmt::format("rank {}: ", all.rank())) << message << '\n';
  return code;
}

// CLI11 says of a subcommand or an option before it that it does not know that a subcommand is required; say which one
// it was, and what there is.
void check_subcommands(CLI::App& app, const std::vector<std::string>& arguments) {
  CLI::App* at = &app;
  for (const std::string& word : arguments) {
    const auto known = at->get_subcommands([](CLI::App*) { return true; });
    if (known.empty()) return;
    const bool option = word.starts_with('-');
    if (option && at->get_option_no_throw(word) != nullptr) return;
    const auto next =
        std::find_if(known.begin(), known.end(), [&word](const CLI::App* sub) { return sub->check_name(word); });
    if (next == known.end()) {
      std::string names;
      for (const CLI::App* sub : known) names += (names.empty() ? "" : ", ") + sub->get_name();
      throw UsageError(fmt::format("\"{}\" is not {} of {}: {}", word,
                                   option ? "an option or subcommand" : "a subcommand", at->get_name(), names));
    }
    at = *next;
  }
}

struct Command {
  std::string_view name;
  void (*add)(CLI::App& app, const Streams& streams);
};
constexpr Command kCommands[] = {
    {"attend", add_attend},   {"bench", add_bench},       {"chart", add_chart},     {"chat", add_chat},
    {"compare", add_compare}, {"evaluate", add_evaluate}, {"explain", add_explain}, {"export", add_export},
    {"import", add_import},   {"learn", add_learn},       {"probe", add_probe},     {"quantize", add_quantize},
    {"run", add_run},         {"score", add_score},       {"serve", add_serve},     {"shortlist", add_shortlist},
    {"train", add_train},     {"view", add_view},
};

// Only the one that is called, if it is one: to describe the options of all takes some milliseconds, in which a short
// sentence is translated.
void add_commands(CLI::App& app, const Streams& streams, const std::vector<std::string>& arguments) {
  const auto* called = std::find_if(std::begin(kCommands), std::end(kCommands), [&](const Command& command) {
    return !arguments.empty() && command.name == arguments[0];
  });
  if (called != std::end(kCommands)) return called->add(app, streams);
  for (const Command& command : kCommands) command.add(app, streams);
}

// "fovea run", "fovea bench gemm": as far as the command line was understood.
std::string chosen_command(const CLI::App& app) {
  std::string name = app.get_name();
  for (const CLI::App* sub : app.get_subcommands()) name += chosen_command(*sub).insert(0, " ");
  return name;
}

// The command that was chosen, innermost.
const CLI::App& chosen(const CLI::App& app) {
  const auto subcommands = app.get_subcommands();
  return subcommands.empty() ? app : chosen(*subcommands.front());
}

}  // namespace

int run(const std::vector<std::string>& arguments, const Streams& streams) {
  CLI::App app("Attention for C++: train, run, inspect and serve attention models on CPUs.", "fovea");
  try {
    app.formatter(std::make_shared<HelpFormat>());
    app.option_defaults()->always_capture_default();  // shown by --help
    app.require_subcommand(1);
    app.set_version_flag("--version", FOVEA_VERSION);
    add_commands(app, streams, arguments);
    try {
      (void)kernels::active();  // an unknown FOVEA_KERNELS is an error of usage, whatever the command
      check_subcommands(app, arguments);
      auto reversed = arguments;
      std::reverse(reversed.begin(), reversed.end());
      app.parse(reversed);
    } catch (const CLI::Success& help) {
      return app.exit(help, streams.out, streams.err);
    } catch (const CLI::ParseError& error) {
      return fail(streams,
                  fmt::format("{} ({} --help lists what there is)", shown(error, chosen(app)), chosen_command(app)), 2);
    }
    if (!streams.out.flush()) return fail(streams, "standard output: cannot write", 1);
    return 0;
  } catch (const UsageError& error) {
    return fail(streams, shown(error, chosen(app)), 2);
  } catch (const ShapeError& error) {
    return fail(streams, error.what(), 2);
  } catch (const std::bad_alloc&) {
    return fail(streams, "out of memory", 1);
  } catch (const std::exception& error) {
    return fail(streams, error.what(), 1);
  }
}

}  // namespace fovea::cli
