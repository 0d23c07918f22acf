// --config FILE.toml of fovea train: options under their names, as if they stood on the command line, which wins.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "cli/command.hpp"
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

std::vector<std::string> with_config(std::vector<std::string> arguments, const CLI::App& train) {
  const std::string joined = "--config=";
  const auto at = std::find_if(arguments.begin(), arguments.end(),
                               [&](const std::string& a) { return a == "--config" || a.starts_with(joined); });
  if (at == arguments.end() || (*at == "--config" && at + 1 == arguments.end())) return arguments;
  const std::string file = *at == "--config" ? *(at + 1) : at->substr(joined.size());
  std::vector<CLI::ConfigItem> items;
  try {
    std::istringstream in(config_text(file));
    items = CLI::ConfigTOML().from_config(in);
  } catch (const CLI::Error& error) {
    throw UsageError(fmt::format("--config: {}: {}", file, error.what()));
  }
  std::set<std::string> seen;
  for (const auto& item : items) {
    if (item.name == "++" || item.name == "--") continue;  // a section's beginning and end
    const std::string option = "--" + item.name;
    if (train.get_option_no_throw(option) == nullptr || option == "--config" || option == "--help") {
      throw UsageError(fmt::format("--config: {}: {} is not an option of fovea train", file, item.fullname()));
    }
    if (!seen.insert(option).second) throw UsageError(fmt::format("--config: {}: {} stands twice", file, item.name));
    const auto given = [&](const std::string& a) { return a == option || a.starts_with(option + "="); };
    if (std::any_of(arguments.begin(), arguments.end(), given)) continue;
    const int most = train.get_option(option)->get_expected_max();
    if (item.inputs.empty() || item.inputs[0].empty() || (item.inputs.size() > 1 && most <= 1))
      throw UsageError(fmt::format("--config: {}: {} needs one value", file, item.name));
    const bool flag = most == 0;
    if (flag && item.inputs[0] != "true" && item.inputs[0] != "false") {
      throw UsageError(fmt::format("--config: {}: {} is true or false, not {}", file, item.name, item.inputs[0]));
    }
    if (!flag) {
      arguments.push_back(fmt::format("{}={}", option, fmt::join(item.inputs, ",")));  // kernels = [3, 4] too
    } else if (item.inputs[0] == "true") {
      arguments.push_back(option);
    }
  }
  return arguments;
}

}  // namespace fovea::cli
