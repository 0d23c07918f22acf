// How --help shows options: what each takes, its default and its range, in words.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace fovea::cli {

class HelpFormat : public CLI::Formatter {
 public:
  HelpFormat() { column_width(30); }
  [[nodiscard]] std::string make_option(const CLI::Option* option, bool positional) const override;
  [[nodiscard]] std::string make_option_opts(const CLI::Option* option) const override;  // "N", "FILE", "a|b|c"
  [[nodiscard]] std::string make_option_desc(const CLI::Option* option) const override;  // with default and range
};

}  // namespace fovea::cli
