// A worked example told step by step, for the terminal and as a page.
#pragma once

#include <string>
#include <vector>

#include "view/lesson/worked.hpp"
#include "view/matrix.hpp"
#include "view/terminal.hpp"

namespace fovea::view {

/// One step: what is done, why, the numbers, and one of them worked out by hand.
struct LessonStep {
  std::string title;
  std::string formula;
  std::string text;
  std::vector<NumberTable> tables;
  std::vector<std::string> examples;
};

struct Lesson {
  std::string title;
  std::string lead;
  std::vector<LessonStep> steps;
  std::string closing;
  AttentionRecord picture;  // the weights, for a drawing at the end; without tokens: none
};

/// `origin` says where the numbers are from: "made up, seed 7", "from model.safetensors".
[[nodiscard]] Lesson lesson(const WorkedExample& example, const std::string& origin);
[[nodiscard]] Lesson lesson(const WorkedScores& scores);

/// The lesson in a terminal; words as wide as it, tables beside each other where they fit.
[[nodiscard]] std::string lesson_text(const Lesson& lesson, const TerminalStyle& style);

/// The lesson as one self-contained page: pointing at a number shows the numbers it was made from.
[[nodiscard]] std::string lesson_page(const Lesson& lesson);

}  // namespace fovea::view
