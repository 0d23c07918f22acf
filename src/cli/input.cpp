#include "cli/input.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <iostream>

#include "fovea/error.hpp"
#include "text/unicode.hpp"

namespace fovea::cli {

bool next_line(std::istream& in, std::string& line, std::int64_t& number) {
  if (!std::getline(in, line)) {
    const bool broken = in.bad() || (&in == &std::cin && std::ferror(stdin) != 0);
    if (broken) throw Error("standard input: cannot read");
    return false;
  }
  ++number;
  if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
  if (!line.empty() && line.back() == '\r') line.pop_back();
  if (line.find('\0') != std::string::npos) {
    throw FileError(fmt::format("standard input: line {} holds a NUL", number));
  }
  const std::size_t bad = text::invalid_utf8(line);
  if (bad != std::string_view::npos) {
    throw FileError(fmt::format("standard input: line {} is not UTF-8 at byte {}", number, bad + 1));
  }
  return true;
}

}  // namespace fovea::cli
