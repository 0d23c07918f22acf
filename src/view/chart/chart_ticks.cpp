#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "view/chart/chart.hpp"

namespace fovea::view {

std::vector<double> ticks(double low, double high, int count) {
  if (!(high > low)) {
    const double around = std::max(std::abs(low), 1e-6) * 0.5;
    low -= around;
    high += around;
  }
  const double rough = (high - low) / std::max(1, count);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double step = power * (rough / power < 1.5 ? 1 : rough / power < 3 ? 2 : rough / power < 7 ? 5 : 10);
  std::vector<double> out;
  const double first = std::floor(low / step + 1e-9);
  const double last = std::ceil(high / step - 1e-9);
  for (int i = 0; i < 50 && first + i <= last; ++i) out.push_back((first + i) * step);
  return out;
}

std::vector<double> log_ticks(double low, double high) {
  std::vector<double> out;
  const int first = static_cast<int>(std::floor(std::log10(low) + 1e-9));
  const int last = static_cast<int>(std::ceil(std::log10(high) - 1e-9));
  const bool fine = std::log10(high / low) < 2.2;
  const int stride = std::max(1, (last - first + 6) / 7);
  for (int e = first; e <= last; e += stride) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      if (digit == 1 || (fine && e < last)) out.push_back(digit * std::pow(10.0, e));
    }
  }
  while (out.size() > 2 && out[1] <= low * (1 + 1e-9)) out.erase(out.begin());
  while (out.size() > 2 && out[out.size() - 2] >= high * (1 - 1e-9)) out.pop_back();
  if (out.back() < high) out.push_back(high);
  if (out.size() == 1) out.push_back(out[0] * 10);
  return out;
}

std::string short_number(double value) {
  const double size = std::abs(value);
  if (size >= 1e15) return fmt::format("{:.3g}", value);
  if (size >= 1e3 && size < 1e4) {
    return std::fmod(size, 100) == 0 ? fmt::format("{:g}k", value / 1e3) : fmt::format("{:.4g}", value);
  }
  for (const auto& [unit, name] : {std::pair{1e9, "G"}, {1e6, "M"}, {1e3, "k"}}) {
    if (size >= unit) return fmt::format("{:.4g}{}", value / unit, name);
  }
  if (size < 1e-12) return "0";
  return fmt::format("{:.4g}", value);
}

}  // namespace fovea::view
