// Weights as JSON, with four decimals: megabytes of them, so without a tree of values in between.
#pragma once

#include <cmath>
#include <string>

namespace fovea::server {

/// 0.25 as "0.25", 0.00004 as "0", -3.21987 as "-3.2199"; what is not finite as "null".
inline void append_rounded(std::string& out, float value) {
  if (!std::isfinite(value) || std::abs(value) > 1e12F) {
    out += "null";
    return;
  }
  long long n = std::llround(static_cast<double>(value) * 10000);
  if (n < 0) {
    out += '-';
    n = -n;
  }
  out += std::to_string(n / 10000);
  long long rest = n % 10000;
  if (rest == 0) return;
  out += '.';
  for (long long place = 1000; rest > 0; place /= 10) {
    out += static_cast<char>('0' + rest / place);
    rest %= place;
  }
}

}  // namespace fovea::server
