#include "text/dates.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <unordered_set>

#include "base/rng.hpp"
#include "fovea/error.hpp"
#include "text/unicode.hpp"

namespace fovea::text {
namespace {

constexpr std::array months{"January", "February", "March",     "April",   "May",      "June",
                            "July",    "August",   "September", "October", "November", "December"};
constexpr std::array weekdays{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
constexpr std::array ordinals{
    "first",         "second",       "third",         "fourth",       "fifth",        "sixth",          "seventh",
    "eighth",        "ninth",        "tenth",         "eleventh",     "twelfth",      "thirteenth",     "fourteenth",
    "fifteenth",     "sixteenth",    "seventeenth",   "eighteenth",   "nineteenth",   "twentieth",      "twenty-first",
    "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth", "twenty-seventh", "twenty-eighth",
    "twenty-ninth",  "thirtieth",    "thirty-first"};
constexpr std::array digits{"〇", "一", "二", "三", "四", "五", "六", "七", "八", "九"};
constexpr std::array week_characters{"日", "一", "二", "三", "四", "五", "六"};

struct Date {
  int year, month, day;

  [[nodiscard]] std::string month_name() const { return months[static_cast<std::size_t>(month - 1)]; }
  [[nodiscard]] std::string short_month() const { return month_name().substr(0, 3); }
  [[nodiscard]] std::size_t week_index() const {
    const std::chrono::year_month_day date(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day)));
    return std::chrono::weekday(std::chrono::sys_days(date)).c_encoding();
  }
  [[nodiscard]] std::string weekday() const { return weekdays[week_index()]; }
  [[nodiscard]] std::string ordinal() const {  // 1st, 2nd, 3rd, 4th … 11th, 12th, 13th … 21st
    const char* suffix = "th";
    if (day / 10 != 1) {
      if (day % 10 == 1) suffix = "st";
      if (day % 10 == 2) suffix = "nd";
      if (day % 10 == 3) suffix = "rd";
    }
    return fmt::format("{}{}", day, suffix);
  }
};

// 十, 二十一, 三十: how Chinese says a month or a day.
std::string chinese_number(int n) {
  std::string out;
  if (n >= 20) out += digits[static_cast<std::size_t>(n / 10)];
  if (n >= 10) out += "十";
  if (n % 10 != 0) out += digits[static_cast<std::size_t>(n % 10)];
  return out;
}

std::string chinese_year(int year, std::string_view zero) {
  std::string out;
  for (const char c : std::to_string(year)) {
    if (c == '0') {
      out += zero;
    } else {
      out += digits[static_cast<std::size_t>(c - '0')];
    }
  }
  return out;
}

std::string wide(const std::string& ascii) {
  std::string out;
  for (const char c : ascii) append_utf8(out, U'０' + static_cast<char32_t>(c - '0'));
  return out;
}

using Writer = std::string (*)(const Date&);

constexpr Writer writers[] = {
    // English
    [](const Date& d) { return fmt::format("{} {} {}", d.day, d.month_name(), d.year); },
    [](const Date& d) { return fmt::format("{} {} {}", d.day, d.short_month(), d.year); },
    [](const Date& d) { return fmt::format("{} {}, {}", d.month_name(), d.day, d.year); },
    [](const Date& d) { return fmt::format("{} {}, {}", d.short_month(), d.ordinal(), d.year); },
    [](const Date& d) { return fmt::format("{} {} {}", d.month_name(), d.ordinal(), d.year); },
    [](const Date& d) { return fmt::format("{} of {} {}", d.ordinal(), d.month_name(), d.year); },
    [](const Date& d) { return fmt::format("the {} of {}, {}", d.ordinal(), d.month_name(), d.year); },
    [](const Date& d) {
      return fmt::format("the {} of {} {}", ordinals[static_cast<std::size_t>(d.day - 1)], d.month_name(), d.year);
    },
    [](const Date& d) { return fmt::format("{}, {} {} {}", d.weekday(), d.day, d.month_name(), d.year); },
    [](const Date& d) {
      return fmt::format("{}, {} {}, {}", d.weekday().substr(0, 3), d.short_month(), d.day, d.year);
    },
    [](const Date& d) { return to_lower(fmt::format("{} {} {}", d.month_name(), d.day, d.year)); },
    [](const Date& d) { return fmt::format("{}-{}-{}", d.day, d.short_month(), d.year); },
    [](const Date& d) { return fmt::format("{:02}.{:02}.{}", d.day, d.month, d.year); },
    [](const Date& d) { return fmt::format("{}.{}.{}", d.day, d.month, d.year); },
    [](const Date& d) { return fmt::format("{:02}/{:02}/{}", d.month, d.day, d.year); },
    [](const Date& d) { return fmt::format("{}/{}/{}", d.month, d.day, d.year); },
    [](const Date& d) { return fmt::format("{}/{:02}/{:02}", d.year, d.month, d.day); },
    [](const Date& d) { return fmt::format("{}{:02}{:02}", d.year, d.month, d.day); },
    // Chinese
    [](const Date& d) { return fmt::format("{}年{}月{}日", d.year, d.month, d.day); },
    [](const Date& d) { return fmt::format("{}年{:02}月{:02}日", d.year, d.month, d.day); },
    [](const Date& d) { return fmt::format("{}年{}月{}号", d.year, d.month, d.day); },
    [](const Date& d) {
      return fmt::format("{}年{}月{}日", chinese_year(d.year, "〇"), chinese_number(d.month), chinese_number(d.day));
    },
    [](const Date& d) {
      return fmt::format("{}年{}月{}号", chinese_year(d.year, "零"), chinese_number(d.month), chinese_number(d.day));
    },
    [](const Date& d) {
      return fmt::format("{}年{}月{}日 星期{}", d.year, d.month, d.day, week_characters[d.week_index()]);
    },
    [](const Date& d) {
      return fmt::format("{}年{}月{}日（周{}）", d.year, d.month, d.day, week_characters[d.week_index()]);
    },
    [](const Date& d) {
      return fmt::format("{}年{}月{}日，星期{}", chinese_year(d.year, "〇"), chinese_number(d.month),
                         chinese_number(d.day), week_characters[d.week_index()]);
    },
    [](const Date& d) {
      return fmt::format("{}年{}月{}日", wide(std::to_string(d.year)), wide(std::to_string(d.month)),
                         wide(std::to_string(d.day)));
    },
};

// FNV-1a: the same on every machine, unlike std::hash.
std::uint64_t hash(std::string_view line) {
  std::uint64_t h = 0xCBF29CE484222325ULL;
  for (const char c : line) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return mix64(h);
}

DateSplit split_of(std::string_view line) {
  const std::uint64_t twentieth = hash(line) % 20;
  if (twentieth == 0) return DateSplit::valid;
  return twentieth == 1 ? DateSplit::test : DateSplit::train;
}

}  // namespace

DateSplit date_split(std::string_view name) {
  if (name == "train") return DateSplit::train;
  if (name == "valid") return DateSplit::valid;
  if (name == "test") return DateSplit::test;
  throw UsageError("no split '" + std::string(name) + "'; there are train, valid and test");
}

int date_formats() {
  return static_cast<int>(std::size(writers));
}

std::string write_date(int format, int year, int month, int day) {
  const std::chrono::year_month_day date(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (format < 0 || format >= date_formats() || !date.ok()) {
    throw UsageError(fmt::format("no date {}-{}-{} in format {}", year, month, day, format));
  }
  return writers[format]({year, month, day});
}

DateLines make_dates(std::int64_t count, std::uint64_t seed, DateSplit split) {
  const std::int64_t most = split == DateSplit::train ? 200000 : 20000;
  if (count < 1 || count > most) {
    throw UsageError(fmt::format("{} dates cannot be made; 1 to {} can", count, most));
  }
  using std::chrono::sys_days;
  const sys_days first = std::chrono::year(1900) / 1 / 1;
  const sys_days last = std::chrono::year(2099) / 12 / 31;
  const auto days = static_cast<std::uint64_t>((last - first).count() + 1);
  Rng rng(seed);
  DateLines out;
  std::unordered_set<std::string> seen;
  while (static_cast<std::int64_t>(out.source.size()) < count) {
    const std::chrono::year_month_day date(first + std::chrono::days(rng.below(days)));
    const int year = static_cast<int>(date.year());
    const int month = static_cast<int>(static_cast<unsigned>(date.month()));
    const int day = static_cast<int>(static_cast<unsigned>(date.day()));
    std::string line =
        write_date(static_cast<int>(rng.below(static_cast<std::uint64_t>(date_formats()))), year, month, day);
    if (split_of(line) != split || !seen.insert(line).second) continue;
    out.source.push_back(std::move(line));
    out.target.push_back(fmt::format("{}-{:02}-{:02}", year, month, day));
  }
  return out;
}

}  // namespace fovea::text
