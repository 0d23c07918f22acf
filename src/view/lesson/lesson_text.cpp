#include <algorithm>

#include <fmt/format.h>

#include "view/lesson/lesson.hpp"
#include "view/text.hpp"

namespace fovea::view {
namespace {

constexpr int kIndent = 4;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// The columns a line takes on the screen: colours take none.
int visible(const std::string& line) {
  std::string bare;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      bare += line[i];
      continue;
    }
    while (i < line.size() && line[i] != 'm') ++i;
  }
  return columns(bare);
}

std::string spaces(int count) {
  return std::string(static_cast<std::size_t>(std::max(0, count)), ' ');
}

// Words on lines of at most `width` columns, each after `indent` spaces.
std::string wrapped(const std::string& text, int indent, int width) {
  std::string out;
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    if (!line.empty() && indent + columns(line) + 1 + columns(word) > width) {
      out += spaces(indent) + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return line.empty() ? out : out + spaces(indent) + line + "\n";
}

// Tables in a row while they fit, each under its name.
std::string beside_each_other(const std::vector<NumberTable>& tables, TerminalStyle style) {
  const int room = style.width;
  style.width = std::max(20, style.width - kIndent);
  std::string out;
  std::vector<std::string> shelf;
  int used = 0;
  const auto put_down = [&] {
    for (std::string& line : shelf) {
      while (!line.empty() && line.back() == ' ') line.pop_back();
      out += spaces(kIndent - 2) + line + "\n";
    }
    shelf.clear();
    used = 0;
  };
  for (const NumberTable& table : tables) {
    std::vector<std::string> block = lines_of(draw_table(table, style));
    block.insert(block.begin(), "  " + bold(clean(table.name), style));
    int width = 0;
    for (const std::string& line : block) width = std::max(width, visible(line));
    if (used > 0 && kIndent + used + 2 + width > room) {
      put_down();
      out += '\n';
    }
    if (shelf.size() < block.size()) shelf.resize(block.size());
    if (used > 0) used += 2;
    for (std::size_t i = 0; i < shelf.size(); ++i) {
      shelf[i] += spaces(used - visible(shelf[i])) + (i < block.size() ? block[i] : "");
    }
    used += width;
  }
  put_down();
  return out;
}

}  // namespace

std::string lesson_text(const Lesson& lesson, const TerminalStyle& style) {
  const int width = std::min(style.width, 100);
  std::string out = bold(lesson.title, style) + "\n" + wrapped(clean(lesson.lead), 0, width);
  int number = 0;
  for (const LessonStep& step : lesson.steps) {
    out += fmt::format("\n{:>2}  {}   {}\n", ++number, bold(step.title, style), faint(step.formula, style));
    out += wrapped(clean(step.text), kIndent, width) + "\n" + beside_each_other(step.tables, style);
    if (!step.examples.empty()) out += "\n";
    for (const std::string& example : step.examples) out += wrapped(clean(example), kIndent, width);
  }
  if (!lesson.closing.empty()) out += "\n" + wrapped(clean(lesson.closing), 0, width);
  return out;
}

}  // namespace fovea::view
