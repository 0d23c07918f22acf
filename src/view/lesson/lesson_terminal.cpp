#include <fmt/format.h>

#include <algorithm>

#include "view/lesson/lesson.hpp"
#include "view/terminal/number_table.hpp"
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

// The columns that a line occupies: escape sequences occupy none.
int visible_columns(const std::string& line) {
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

// Lines of at most `width` columns, each indented by `indent` spaces.
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

NumberTable number_table(const LessonTable& table, const LessonWords& words) {
  return {words(table.name), table.numbers,     words.each(table.rows), words.each(table.columns),
          table.decimals,    words(table.note), table.weights};
}

// Tables side by side while they fit, each below its name.
std::string side_by_side(const std::vector<LessonTable>& tables, const LessonWords& words, TerminalStyle style) {
  const int room = style.width;
  style.width = std::max(20, style.width - kIndent);
  std::string out;
  std::vector<std::string> shelf;
  int used = 0;
  const auto flush = [&] {
    for (std::string& line : shelf) {
      while (!line.empty() && line.back() == ' ') line.pop_back();
      out += spaces(kIndent - 2) + line + "\n";
    }
    shelf.clear();
    used = 0;
  };
  for (const LessonTable& one : tables) {
    const NumberTable table = number_table(one, words);
    std::vector<std::string> block = lines_of(draw_table(table, style));
    block.insert(block.begin(), "  " + bold(clean(table.name), style));
    int width = 0;
    for (const std::string& line : block) width = std::max(width, visible_columns(line));
    if (used > 0 && kIndent + used + 2 + width > room) {
      flush();
      out += '\n';
    }
    if (shelf.size() < block.size()) shelf.resize(block.size());
    if (used > 0) used += 2;
    for (std::size_t i = 0; i < shelf.size(); ++i) {
      shelf[i] += spaces(used - visible_columns(shelf[i])) + (i < block.size() ? block[i] : "");
    }
    used += width;
  }
  flush();
  return out;
}

}  // namespace

std::string lesson_text(const Lesson& lesson, const TerminalStyle& style) {
  const LessonWords words(lesson.language);
  const int width = std::min(style.width, 100);
  std::string out = bold(clean(words(lesson.title)), style) + "\n" + wrapped(clean(words(lesson.lead)), 0, width);
  int number = 0;
  for (const LessonStep& step : lesson.steps) {
    out += fmt::format("\n{:>2}  {}   {}\n", ++number, bold(clean(words(step.title)), style),
                       faint(words(step.formula), style));
    out += wrapped(clean(words(step.text)), kIndent, width) + "\n" + side_by_side(step.tables, words, style);
    if (!step.worked.empty()) out += "\n";
    for (const Message& one : step.worked) out += wrapped(clean(words(one)), kIndent, width);
  }
  if (!lesson.closing.empty()) out += "\n" + wrapped(clean(words(lesson.closing)), 0, width);
  return out;
}

}  // namespace fovea::view
