// Generates a corpus: dates as people write them, in English and Chinese, and the same dates in ISO 8601.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dates {

/// The line itself decides its split (90%, 5%, 5%), so the splits never share a source line, whatever the seeds and
/// counts.
enum class Split { train, valid, test };

/// The split named train, valid or test. Throws std::invalid_argument for another name.
[[nodiscard]] Split split_named(std::string_view name);

struct Lines {
  std::vector<std::string> source;  // "Wed, Mar 3rd 2021", "二〇二一年三月三日"
  std::vector<std::string> target;  // "2021-03-03"
};

/// The number of formats that write_date knows.
[[nodiscard]] int format_count();

/// The date in a format from 0 to format_count() - 1. No line is ambiguous: with full stops the day comes first
/// (31.12.2021), with slashes the month (12/31/2021), unless the year is in front. Throws std::invalid_argument if
/// there is no such format or date.
[[nodiscard]] std::string write_date(int format, int year, int month, int day);

/// `count` different lines of a split, with days from 1900 to 2099. The same seed gives the same lines. Throws
/// std::invalid_argument unless 1 <= count <= 20000, or 200000 for Split::train.
[[nodiscard]] Lines make_lines(std::int64_t count, std::uint64_t seed, Split split);

}  // namespace dates
