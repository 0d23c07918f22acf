#include "cli/io/input.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <iostream>

#include "fovea/error.hpp"
#include "text/unicode.hpp"

namespace fovea::cli {
namespace {

constexpr std::size_t kLongestLine = 1 << 20;  // as of files: one line must not fill the memory
constexpr std::size_t kLinePiece = 1 << 12;

// As std::getline, but for a line that is too long.
bool bounded_line(std::istream& in, std::string& line, std::int64_t number) {
  line.clear();
  for (std::array<char, kLinePiece> piece; true;) {
    in.getline(piece.data(), piece.size());
    const auto count = static_cast<std::size_t>(in.gcount());
    const bool goes_on = in.fail() && count + 1 == piece.size();
    const bool whole = !in.fail() && !in.eof();  // its end was read too, and is counted
    line.append(piece.data(), whole ? count - 1 : count);
    if (line.size() > kLongestLine) {
      throw FileError(fmt::format("standard input: line {} is longer than 1 MiB; is this text?", number));
    }
    if (!goes_on) return !in.bad() && (!in.fail() || !line.empty());
    in.clear(in.rdstate() & ~std::ios::failbit);
  }
}

}  // namespace

bool next_line(std::istream& in, std::string& line, std::int64_t& number) {
  if (!bounded_line(in, line, number + 1)) {
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
