// A bar for what takes long, or plain lines where nobody watches.
#pragma once

#include <iosfwd>
#include <string>

namespace fovea::cli {

class ProgressBar {
 public:
  ProgressBar(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}

  /// Redraws the bar, at most ten times a second: progress 0 to 1 (0: unknown), seconds so far, a few words.
  void show(double progress, double seconds, const std::string& words);
  /// A line of its own elsewhere than on a terminal, where the bar says it already.
  void line(const std::string& text, double progress, double seconds);
  /// A line of its own everywhere.
  void print(const std::string& text);
  void clear();

 private:
  std::ostream& out_;
  bool terminal_;
  bool drawn_ = false;
  double last_ = -1;
};

/// "3 s", "4 min 10 s", "2 h 5 min"
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace fovea::cli
