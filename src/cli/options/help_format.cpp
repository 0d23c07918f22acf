#include "cli/options/help_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace fovea::cli {
namespace {

constexpr std::size_t kHelpWidth = 110;  // of a line of help

// What CLI11 says of an option: "INT", "TEXT:{a,b}", "INT:INT in [1 - 16]".
struct OptionKind {
  explicit OptionKind(const CLI::Option& option) {
    const std::string text = option.get_type_name();
    const std::size_t colon = text.find(':');
    name = text.substr(0, colon);
    if (colon != text.npos) limits = text.substr(colon + 1);
  }
  std::string name, limits;
};

// Options that name a file or a folder; all others take text, or one of some words.
std::string_view taken_by(std::string_view option) {
  static constexpr std::string_view files[] = {"--source",
                                               "--target",
                                               "--pairs",
                                               "--valid-source",
                                               "--valid-target",
                                               "--valid-pairs",
                                               "--config",
                                               "--html",
                                               "--svg",
                                               "--out",
                                               "--weights",
                                               "--params",
                                               "--query",
                                               "--key",
                                               "--value",
                                               "--lengths",
                                               "--sink",
                                               "--documents",
                                               "--mask",
                                               "--bias",
                                               "--grad",
                                               "--grads",
                                               "--top-out",
                                               "--hypothesis",
                                               "--reference",
                                               "--alignments",
                                               "--api-keys",
                                               "--tls-cert",
                                               "--tls-key",
                                               "--embeddings",
                                               "--log-probabilities",
                                               "--token-counts",
                                               "--train",
                                               "--contexts",
                                               "--train-contexts",
                                               "--vectors",
                                               "--picture-weights"};
  if (option == "--model") return "DIR";
  return std::find(std::begin(files), std::end(files), option) != std::end(files) ? "FILE" : "TEXT";
}

// "1 - 16" as "1 to 16", without the largest number there is.
std::string range_of(const std::string& limits) {
  const std::size_t begin = limits.find("in [");
  if (begin == limits.npos) return {};
  const std::string inside = limits.substr(begin + 4, limits.find(']', begin) - begin - 4);
  const std::size_t between = inside.find(" - ");
  if (between == inside.npos) return {};
  const std::string least = inside.substr(0, between);
  const std::string most = inside.substr(between + 3);
  return most.size() > 9 ? least + " or more" : least + " to " + most;
}

std::string default_of(const CLI::Option& option) {
  std::string text = option.get_default_str();
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  if (const std::size_t zero = text.find("e-0"); zero != text.npos) text.erase(zero + 2, 1);  // 1e-9, not 1e-09
  return text;
}

// Words in lines of a width; code points count as one column each.
std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const auto length = static_cast<std::size_t>(
        std::count_if(word.begin(), word.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
    if (used > 0 && used + 1 + length > width) {
      lines.emplace_back();
      used = 0;
    }
    if (used > 0) lines.back() += ' ';
    lines.back() += word;
    used += length + (used > 0 ? 1 : 0);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::string HelpFormat::make_option(const CLI::Option* option, bool positional) const {
  std::string out = "  " + make_option_name(option, positional) + make_option_opts(option);
  const std::size_t column = get_column_width();
  out = out.size() + 1 > column ? out + "\n" + std::string(column, ' ') : out + std::string(column - out.size(), ' ');
  const auto lines = wrapped(make_option_desc(option), kHelpWidth - column);
  return out + fmt::format("{}\n", fmt::join(lines, "\n" + std::string(column, ' ')));
}

std::string HelpFormat::make_option_opts(const CLI::Option* option) const {
  if (option->get_type_size() == 0) return {};
  const OptionKind kind(*option);
  std::string out = kind.name;
  if (kind.name == "INT" || kind.name == "UINT") out = "N";
  if (kind.name == "FLOAT") out = "X";
  if (kind.name == "TEXT") out = option->get_description().starts_with("file") ? "FILE" : taken_by(option->get_name());
  if (kind.limits.starts_with('{') && kind.limits.ends_with('}')) {
    out = kind.limits.substr(1, kind.limits.size() - 2);
    std::replace(out.begin(), out.end(), ',', '|');
  }
  if (option->get_positional()) return {};
  return " " + out + (option->get_expected_max() == CLI::detail::expected_max_vector_size ? " ..." : "");
}

std::string HelpFormat::make_option_desc(const CLI::Option* option) const {
  std::string text = option->get_description();
  std::vector<std::string> more;
  if (option->get_required()) more.emplace_back("required");
  const std::string range = range_of(OptionKind(*option).limits);
  std::string usual = default_of(*option);
  if (usual == "0" && range.starts_with("1 ")) usual.clear();  // means "not given"
  const std::string at_end = " (" + usual + ")";
  if (!usual.empty() && option->get_type_size() != 0 && text.find("default") == text.npos) {
    if (text.ends_with(at_end)) text.resize(text.size() - at_end.size());
    const std::size_t last = text.rfind("; ");  // the value that is explained last, as in "0: no limit (default)"
    const bool explained = text.substr(last == text.npos ? 0 : last + 2).starts_with(usual + ": ");
    more.push_back(explained ? "default" : "default: " + usual);
  }
  if (!range.empty()) more.push_back(range);
  for (const CLI::Option* other : option->get_needs()) more.push_back("with " + other->get_name());
  for (const CLI::Option* other : option->get_excludes()) more.push_back("without " + other->get_name());
  if (more.empty()) return text;
  const std::string all = fmt::format("{})", fmt::join(more, "; "));
  return text.ends_with(')') ? text.substr(0, text.size() - 1) + "; " + all : text + " (" + all;
}

}  // namespace fovea::cli
