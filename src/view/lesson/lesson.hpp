// A worked example as data: numbers step by step, with the keys of the words that explain them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/attention_record.hpp"
#include "view/lesson/words.hpp"
#include "view/terminal/terminal.hpp"

namespace fovea::view {

/// A matrix of a step. Minus infinity marks a hidden key.
struct LessonTable {
  Message name{};    // "Q"
  std::string id{};  // by which the page finds the operands of a number: "Q.0" of head 0
  AttentionMatrix numbers{};
  std::vector<Message> rows{};     // labels, one for each row, or none
  std::vector<Message> columns{};  // likewise
  int decimals = 2;
  bool weights = false;  // coloured by the value, 0 to 1; otherwise by sign and size
  Message note{};        // what is left out; empty: nothing
};

/// One step: what is computed and why, the numbers, and one of them worked out by hand.
struct LessonStep {
  Message title{};
  Message formula{};
  std::vector<Message> text{};
  std::vector<LessonTable> tables{};
  std::vector<Message> worked{};

  /// A step with the entries KEY.title, KEY.formula and KEY.text of the dictionary.
  [[nodiscard]] static LessonStep of(const std::string& key, const Message::Values& values = {}) {
    return {Message::of(key + ".title", values),
            Message::of(key + ".formula", values),
            {Message::of(key + ".text", values)}};
  }
};

struct Lesson {
  Message title{};
  Message lead{};
  std::vector<LessonStep> steps{};
  std::vector<Message> closing{};
  AttentionRecord picture{};    // the weights, to draw at the end; without tokens: none
  bool self_attention = false;  // queries and keys are the same tokens
  bool folded = false;          // tables leave out rows and columns, so the page cannot show the operands of a number
  LessonLanguage language = LessonLanguage::english;  // in which it is shown first
};

/// The lesson as JSON for the page (web/explain.js).
[[nodiscard]] std::string lesson_json(const Lesson& lesson);

/// The lesson in a terminal: tables side by side where they fit.
[[nodiscard]] std::string lesson_text(const Lesson& lesson, const TerminalStyle& style);

/// The lesson as one self-contained page: pointing at a number shows its operands.
[[nodiscard]] std::string lesson_page(const Lesson& lesson);

}  // namespace fovea::view
