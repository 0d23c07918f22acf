#include "cli/io/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace fovea::cli {

std::string duration_text(double seconds) {
  const auto s = static_cast<long>(std::llround(std::max(0.0, seconds)));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {} s", s / 60, s % 60);
  return fmt::format("{} h {} min", s / 3600, s / 60 % 60);
}

void ProgressBar::show(double progress, double seconds, const std::string& words) {
  if (!terminal_ || (last_ >= 0 && seconds - last_ < 0.1 && seconds >= last_)) return;
  last_ = seconds;
  constexpr int kWidth = 24;
  const int full = static_cast<int>(std::clamp(progress, 0.0, 1.0) * kWidth * 8);
  static constexpr const char* parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  std::string bar;
  for (int i = 0; i < full / 8; ++i) bar += "█";
  if (full < kWidth * 8) bar += parts[full % 8];
  const int cells = full / 8 + (full % 8 != 0 ? 1 : 0);
  bar.append(static_cast<std::size_t>(std::max(0, kWidth - cells)), ' ');
  const std::string left = progress > 1e-6 ? ", " + duration_text(seconds * (1 - progress) / progress) + " left" : "";
  out_ << fmt::format("\r\x1b[K▕{}▏{:3.0f}%  {}  {}{}", bar, 100 * progress, words, duration_text(seconds), left)
       << std::flush;
  drawn_ = true;
}

void ProgressBar::line(const std::string& text, double progress, double seconds) {
  if (terminal_) return;
  const std::string left = progress > 1e-6 ? "  " + duration_text(seconds * (1 - progress) / progress) + " left" : "";
  out_ << text << left << '\n' << std::flush;
}

void ProgressBar::print(const std::string& text) {
  clear();
  out_ << text << '\n' << std::flush;
}

void ProgressBar::clear() {
  if (drawn_) out_ << "\r\x1b[K" << std::flush;
  drawn_ = false;
}

}  // namespace fovea::cli
