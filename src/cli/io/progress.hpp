// A progress bar on a terminal, plain lines elsewhere.
#pragma once

#include <iosfwd>
#include <string>

namespace fovea::cli {

class ProgressBar {
 public:
  ProgressBar(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}

  /// Redraws the bar, at most ten times a second: progress 0 to 1 (0: unknown), seconds so far, a few words.
  void show(double progress, double seconds, const std::string& words);
  /// A line unless on a terminal, where the bar shows the same.
  void line(const std::string& text, double progress, double seconds);
  /// A line, on a terminal too.
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
