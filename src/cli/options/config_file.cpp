// --config FILE.toml of fovea train: options under their names. The command line wins.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "cli/options/declared_options.hpp"
#include "fovea/error.hpp"
#include "text/unicode.hpp"

namespace fovea::cli {
namespace {

constexpr std::size_t kLargest = 1 << 20;  // bytes; a list of options takes a few hundred

std::string config_text(const std::string& file) {
  std::error_code ignored;
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file, ignored)) {
    throw FileError(fmt::format("--config: {} cannot be read", file));
  }
  std::string text(kLargest + 1, '\0');  // a pipe or a device does not say its size
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kLargest) {
    throw FileError(fmt::format("--config: {} has more than 1 MiB; is it a list of options?", file));
  }
  const std::size_t bad = text::invalid_utf8(text);
  if (bad != std::string_view::npos)
    throw FileError(fmt::format("--config: {} is not UTF-8 at byte {}", file, bad + 1));
  return text;
}

}  // namespace

void add_config_file(const std::string& file, const std::vector<OptionInfo>& options, OptionValues& values) {
  std::vector<CLI::ConfigItem> items;
  try {
    std::istringstream in(config_text(file));
    items = CLI::ConfigTOML().from_config(in);
  } catch (const CLI::Error& error) {
    throw UsageError("config", fmt::format("{}: {}", file, error.what()));
  }
  // A switch of the command line wins over the one that turns the same field the other way.
  std::set<std::string> decided, seen;
  for (const OptionInfo& option : options) {
    if (values.given(option.name)) decided.insert(option.field);
  }
  for (const auto& item : items) {
    if (item.name == "++" || item.name == "--") continue;  // a section's beginning and end
    const auto option =
        std::find_if(options.begin(), options.end(), [&](const auto& o) { return o.name == item.name; });
    const auto refuse = [&](const std::string& problem) {
      throw UsageError("config", fmt::format("{}: {}", file, problem));
    };
    if (option == options.end()) refuse(item.fullname() + " is not an option of fovea train");
    if (!seen.insert(item.name).second) refuse("duplicate option " + item.name);
    if (decided.contains(option->field)) continue;
    if (item.inputs.empty() || item.inputs[0].empty()) refuse(item.name + " needs one value");
    const std::string text = fmt::format("{}", fmt::join(item.inputs, ","));  // kernels = [3, 4] too
    if (option->is_switch && text != "true" && text != "false") {
      refuse(fmt::format("{} is true or false, not {}", item.name, text));
    }
    values.give(item.name, text);
  }
}

}  // namespace fovea::cli
