// fovea explain --model: a trained model's own numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/command.hpp"
#include "view/lesson/model_lesson.hpp"

namespace fovea::cli {

struct ExplainModelOptions {
  std::string model;
  std::string sentence;
  std::optional<std::string> target;  // explained instead of the model's own output
  std::optional<std::string> kind;
  int layer = 0, head = 0;
  std::optional<std::int64_t> query, key;        // the pair whose sums are written out
  std::optional<view::LessonLanguage> language;  // empty: that of the sentence
  std::string numbers;                           // .safetensors to write every array of the run to
};

/// The lesson of a line; writes `options.numbers` if set.
[[nodiscard]] view::Lesson explain_model(const ExplainModelOptions& options);

}  // namespace fovea::cli
