// Numbers as JSON: megabytes of them, so without a tree of values in between.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <string>

namespace fovea::view {

/// With four decimals 0.25 as "0.25", 0.00004 as "0", -3.21987 as "-3.2199"; with 0 decimals as many as tell the float
/// from its neighbours. What is not finite as "null".
inline void append_number(std::string& out, float value, int decimals) {
  if (!std::isfinite(value) || std::abs(value) > 1e12F) {
    out += "null";
    return;
  }
  if (decimals <= 0) {
    fmt::format_to(std::back_inserter(out), "{}", value);
    return;
  }
  long long unit = 1;
  for (int i = 0; i < decimals; ++i) unit *= 10;
  long long n = std::llround(static_cast<double>(value) * static_cast<double>(unit));
  if (n < 0) {
    out += '-';
    n = -n;
  }
  out += std::to_string(n / unit);
  long long rest = n % unit;
  if (rest == 0) return;
  out += '.';
  for (long long place = unit / 10; rest > 0; place /= 10) {
    out += static_cast<char>('0' + rest / place);
    rest %= place;
  }
}

}  // namespace fovea::view
