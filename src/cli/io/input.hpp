// Lines of standard input, checked before anyone trusts them.
#pragma once

#include <cstdint>
#include <istream>
#include <string>

namespace fovea::cli {

/// The next line without its \n or \r\n (the first without a byte order mark) into `line`, and its number, from 1 on;
/// false at the end. Throws FileError for a line that is not UTF-8, holds a NUL or has more than 1 MiB, Error when the
/// input cannot be read.
bool next_line(std::istream& in, std::string& line, std::int64_t& number);

/// Whether more can be had at once: a terminal, or a program that waits for answers, wants them before it sends more.
inline bool has_more(std::istream& in) {
  return in.rdbuf()->in_avail() > 0;
}

}  // namespace fovea::cli
