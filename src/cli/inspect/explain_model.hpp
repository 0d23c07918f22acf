// fovea explain --model: a trained model's own numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/command.hpp"
#include "view/lesson/lesson.hpp"

namespace fovea::cli {

struct ExplainModelOptions {
  std::string model;
  std::string sentence;               // empty: standard input's first line
  std::optional<std::string> target;  // given instead of found
  std::optional<std::string> kind;
  int layer = 0, head = 0;
  std::optional<std::int64_t> query, key;        // the pair whose sums are written out
  std::optional<view::LessonLanguage> language;  // empty: that of the sentence
  std::string numbers;                           // .safetensors that gets every number of the run
};

/// The lesson of a line; writes options.numbers, if it is asked for.
[[nodiscard]] view::Lesson explain_model(const ExplainModelOptions& options);

}  // namespace fovea::cli
