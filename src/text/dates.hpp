// A corpus anyone can make: dates as people write them, in English and Chinese, and the same in ISO 8601.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::text {

/// Training, validation and test lines never share a source line, whatever the seed and the count: the line itself
/// decides where it belongs (90%, 5%, 5%).
enum class DateSplit { train, valid, test };

/// The split named train, valid or test. Throws UsageError for another name.
[[nodiscard]] DateSplit date_split(std::string_view name);

struct DateLines {
  std::vector<std::string> source;  // "Wed, Mar 3rd 2021", "二〇二一年三月三日"
  std::vector<std::string> target;  // "2021-03-03"
};

/// How many ways of writing a date there are; see write_date.
[[nodiscard]] int date_formats();

/// The date in one of those ways, 0 to date_formats() - 1. No two readings of a line are possible: with full stops the
/// day comes first (31.12.2021), with slashes the month does (12/31/2021), unless the year is in front.
[[nodiscard]] std::string write_date(int format, int year, int month, int day);

/// `count` different lines of a split, of days in 1900 to 2099; the same seed gives the same lines. Throws UsageError
/// unless 1 <= count <= 20000, or 200000 for train.
[[nodiscard]] DateLines make_dates(std::int64_t count, std::uint64_t seed, DateSplit split);

}  // namespace fovea::text
