#include "view/record/numbers.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace fovea::view {

void append_number(std::string& out, float value, int decimals) {
  if (!std::isfinite(value) || std::abs(value) > 1e12F) {
    out += "null";
    return;
  }
  std::array<char, 32> digits;  // the shortest form of a float has at most 15, of 1e12 in units of 1e-6 19
  if (decimals <= 0) {
    const auto end = std::to_chars(digits.begin(), digits.end(), value).ptr;
    out.append(digits.begin(), end);
    return;
  }
  long long unit = 1;
  for (int i = 0; i < decimals; ++i) unit *= 10;
  long long n = std::llround(static_cast<double>(value) * static_cast<double>(unit));
  if (n < 0) {
    out += '-';
    n = -n;
  }
  out.append(digits.begin(), std::to_chars(digits.begin(), digits.end(), n / unit).ptr);
  long long rest = n % unit;
  if (rest == 0) return;
  out += '.';
  for (long long place = unit / 10; rest > 0; place /= 10) {
    out += static_cast<char>('0' + rest / place);
    rest %= place;
  }
}

}  // namespace fovea::view
