#include "dates.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <sstream>
#include <stdexcept>
#include <unordered_set>

namespace dates {
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

template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

// At least two digits.
std::string two(int n) {
  return (n < 10 ? "0" : "") + std::to_string(n);
}

std::string to_lower(std::string ascii) {
  std::transform(ascii.begin(), ascii.end(), ascii.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return ascii;
}

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
    return text(day, suffix);
  }
};

// A month or a day as 十, 二十一, 三十.
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

// The number in full-width digits, U+FF10 to U+FF19.
std::string wide(int number) {
  std::string out;
  for (const char c : std::to_string(number)) out += "\xEF\xBC" + std::string(1, static_cast<char>(0x90 + (c - '0')));
  return out;
}

using Writer = std::string (*)(const Date&);

constexpr Writer writers[] = {
    // English
    [](const Date& d) { return text(d.day, ' ', d.month_name(), ' ', d.year); },
    [](const Date& d) { return text(d.day, ' ', d.short_month(), ' ', d.year); },
    [](const Date& d) { return text(d.month_name(), ' ', d.day, ", ", d.year); },
    [](const Date& d) { return text(d.short_month(), ' ', d.ordinal(), ", ", d.year); },
    [](const Date& d) { return text(d.month_name(), ' ', d.ordinal(), ' ', d.year); },
    [](const Date& d) { return text(d.ordinal(), " of ", d.month_name(), ' ', d.year); },
    [](const Date& d) { return text("the ", d.ordinal(), " of ", d.month_name(), ", ", d.year); },
    [](const Date& d) {
      return text("the ", ordinals[static_cast<std::size_t>(d.day - 1)], " of ", d.month_name(), ' ', d.year);
    },
    [](const Date& d) { return text(d.weekday(), ", ", d.day, ' ', d.month_name(), ' ', d.year); },
    [](const Date& d) { return text(d.weekday().substr(0, 3), ", ", d.short_month(), ' ', d.day, ", ", d.year); },
    [](const Date& d) { return to_lower(text(d.month_name(), ' ', d.day, ' ', d.year)); },
    [](const Date& d) { return text(d.day, '-', d.short_month(), '-', d.year); },
    [](const Date& d) { return text(two(d.day), '.', two(d.month), '.', d.year); },
    [](const Date& d) { return text(d.day, '.', d.month, '.', d.year); },
    [](const Date& d) { return text(two(d.month), '/', two(d.day), '/', d.year); },
    [](const Date& d) { return text(d.month, '/', d.day, '/', d.year); },
    [](const Date& d) { return text(d.year, '/', two(d.month), '/', two(d.day)); },
    [](const Date& d) { return text(d.year, two(d.month), two(d.day)); },
    // Chinese
    [](const Date& d) { return text(d.year, "年", d.month, "月", d.day, "日"); },
    [](const Date& d) { return text(d.year, "年", two(d.month), "月", two(d.day), "日"); },
    [](const Date& d) { return text(d.year, "年", d.month, "月", d.day, "号"); },
    [](const Date& d) {
      return text(chinese_year(d.year, "〇"), "年", chinese_number(d.month), "月", chinese_number(d.day), "日");
    },
    [](const Date& d) {
      return text(chinese_year(d.year, "零"), "年", chinese_number(d.month), "月", chinese_number(d.day), "号");
    },
    [](const Date& d) { return text(d.year, "年", d.month, "月", d.day, "日 星期", week_characters[d.week_index()]); },
    [](const Date& d) {
      return text(d.year, "年", d.month, "月", d.day, "日（周", week_characters[d.week_index()], "）");
    },
    [](const Date& d) {
      return text(chinese_year(d.year, "〇"), "年", chinese_number(d.month), "月", chinese_number(d.day), "日，星期",
                  week_characters[d.week_index()]);
    },
    [](const Date& d) { return text(wide(d.year), "年", wide(d.month), "月", wide(d.day), "日"); },
};

// The finaliser of splitmix64 (Steele et al. 2014).
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

// Random numbers that are the same on every machine: a counter hashed with the seed.
class Random {
 public:
  explicit Random(std::uint64_t seed) : key_(mix64(seed)) {}

  // From 0 to bound - 1, without bias (Lemire 2019).
  std::uint64_t below(std::uint64_t bound) {
    for (;;) {
      const auto product = static_cast<unsigned __int128>(mix64(key_ ^ mix64(counter_++))) * bound;
      const auto low = static_cast<std::uint64_t>(product);
      if (low >= (0 - bound) % bound) return static_cast<std::uint64_t>(product >> 64);
    }
  }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

// FNV-1a: the same on every machine, unlike std::hash.
std::uint64_t hash(std::string_view line) {
  std::uint64_t h = 0xCBF29CE484222325ULL;
  for (const char c : line) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return mix64(h);
}

Split split_of(std::string_view line) {
  const std::uint64_t twentieth = hash(line) % 20;
  if (twentieth == 0) return Split::valid;
  return twentieth == 1 ? Split::test : Split::train;
}

}  // namespace

Split split_named(std::string_view name) {
  if (name == "train") return Split::train;
  if (name == "valid") return Split::valid;
  if (name == "test") return Split::test;
  throw std::invalid_argument("--split: must be train, valid or test, is " + std::string(name));
}

int format_count() {
  return static_cast<int>(std::size(writers));
}

std::string write_date(int format, int year, int month, int day) {
  const std::chrono::year_month_day date(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (format < 0 || format >= format_count() || !date.ok()) {
    throw std::invalid_argument(text("no date ", year, '-', month, '-', day, " in format ", format));
  }
  return writers[format]({year, month, day});
}

Lines make_lines(std::int64_t count, std::uint64_t seed, Split split) {
  const std::int64_t most = split == Split::train ? 200000 : 20000;
  if (count < 1 || count > most) {
    throw std::invalid_argument(text("--count: must be from 1 to ", most, " for this split, is ", count));
  }
  using std::chrono::sys_days;
  const sys_days first = std::chrono::year(1900) / 1 / 1;
  const sys_days last = std::chrono::year(2099) / 12 / 31;
  const auto days = static_cast<std::uint64_t>((last - first).count() + 1);
  Random random(seed);
  Lines out;
  std::unordered_set<std::string> seen;
  while (static_cast<std::int64_t>(out.source.size()) < count) {
    const std::chrono::year_month_day date(first + std::chrono::days(random.below(days)));
    const int year = static_cast<int>(date.year());
    const int month = static_cast<int>(static_cast<unsigned>(date.month()));
    const int day = static_cast<int>(static_cast<unsigned>(date.day()));
    std::string line =
        write_date(static_cast<int>(random.below(static_cast<std::uint64_t>(format_count()))), year, month, day);
    if (split_of(line) != split || !seen.insert(line).second) continue;
    out.source.push_back(std::move(line));
    out.target.push_back(text(year, '-', two(month), '-', two(day)));
  }
  return out;
}

}  // namespace dates
