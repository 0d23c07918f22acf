// Lessons on numbers that are made up or given, without a model.
#pragma once

#include <string>

#include "view/lesson/lesson.hpp"
#include "view/lesson/worked.hpp"

namespace fovea::view {

/// Self-attention step by step. `sentence` is the user's, `origin` says where the numbers come from (origin.made_up …).
[[nodiscard]] Lesson self_attention_lesson(const WorkedExample& example, const std::string& sentence,
                                           const Message& origin);

/// The softmax of given scores.
[[nodiscard]] Lesson scores_lesson(const WorkedScores& scores);

}  // namespace fovea::view
