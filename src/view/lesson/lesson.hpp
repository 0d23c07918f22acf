// A worked example, step by step, for the terminal and as a page.
#pragma once

#include <string>
#include <string_view>
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
  std::string picture_title = "What each word attended to";
  bool same_side = false;       // queries and keys are the same sequence: neither is a source nor a target
  bool folded = false;          // tables leave numbers out, so a page cannot make sums of what it shows
  std::string language = "en";  // of the words
};

/// The language of a lesson's words.
enum class LessonLanguage { english, chinese };
/// "en" or "zh". Throws UsageError for any other.
[[nodiscard]] LessonLanguage lesson_language(std::string_view name);
/// For a sentence with Chinese characters in it, Chinese.
[[nodiscard]] LessonLanguage language_of(std::string_view sentence);

/// What the head of a lesson says of its example.
struct LessonHead {
  std::string sentence;  // as it was given
  std::string origin;    // where the numbers are from: "made-up numbers, seed 7", "numbers from model.safetensors"
};

[[nodiscard]] Lesson lesson(const WorkedExample& example, const LessonHead& head,
                            LessonLanguage language = LessonLanguage::english);
[[nodiscard]] Lesson lesson(const WorkedScores& scores, LessonLanguage language = LessonLanguage::english);

/// The lesson in a terminal; words as wide as it, tables beside each other where they fit.
[[nodiscard]] std::string lesson_text(const Lesson& lesson, const TerminalStyle& style);

/// The lesson as one self-contained page: pointing at a number shows the numbers it was made from.
[[nodiscard]] std::string lesson_page(const Lesson& lesson);

}  // namespace fovea::view
