#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "view/lesson/equations.hpp"
#include "view/lesson/worked_lesson.hpp"
#include "view/terminal/number_table.hpp"

namespace fovea::view {
namespace {

constexpr int kScoreDecimals = 4;
constexpr std::size_t kPowersShown = 8;  // of the sum written out

// Rounded as in the table.
std::string shown(double value) {
  return shown_number(static_cast<float>(value), kScoreDecimals);
}

LessonTable line_of(const char* name, const auto& values, int decimals = kScoreDecimals) {
  const auto count = static_cast<std::int64_t>(values.size());
  LessonTable table{name, {}, {1, count, {values.begin(), values.end()}}};
  for (std::int64_t j = 0; j < count; ++j) table.columns.push_back(Message::of("given.key", {{"number", j + 1}}));
  table.decimals = decimals;
  return table;
}

LessonStep scaling_step(const WorkedScores& worked) {
  const std::string root = fmt::format("{:.4f}", std::sqrt(worked.dim));
  LessonStep step = LessonStep::of("given.scaling", {{"width", fmt::format("{:g}", worked.dim)}, {"root", root}});
  step.tables = {line_of("s/√d", worked.scaled)};
  step.worked = {fmt::format("{} / {} = {}", shown_number(worked.scores[0], 2), root, shown(worked.scaled[0]))};
  return step;
}

LessonStep powers_step(const WorkedScores& worked, const std::string& symbol) {
  LessonStep step = LessonStep::of("given.powers", {{"scores", symbol}});
  if (worked.shift != 0) {
    step.formula = Message::of("given.powers.formula.shifted", {{"scores", symbol}});
    step.text = {Message::of("given.powers.shifted", {{"largest", fmt::format("{:.6g}", worked.shift)}})};
  }
  step.tables = {line_of("exp", worked.powers)};
  std::string terms;
  for (std::size_t i = 0; i < std::min(worked.powers.size(), kPowersShown); ++i) {
    terms += (i > 0 ? " + " : "") + shown(worked.powers[i]);
  }
  if (worked.powers.size() > kPowersShown) terms += " + …";
  step.worked = {Message::of("given.sum", {{"terms", terms}, {"sum", shown_number(worked.sum, kScoreDecimals)}})};
  return step;
}

LessonStep weights_step(const WorkedScores& worked, const std::string& symbol) {
  LessonStep step = LessonStep::of("given.weights", {{"scores", symbol}});
  step.tables = {line_of("weights", worked.weights)};
  step.tables[0].weights = true;
  step.worked = {fmt::format("{} / {} = {}", shown_number(worked.powers[0], kScoreDecimals),
                             shown_number(worked.sum, kScoreDecimals), shown(worked.weights[0]))};
  if (worked.shift == 0) {
    step.worked.push_back(softmax_equation(Message::of("given.softmax"), {worked.scaled.begin(), worked.scaled.end()},
                                           0, worked.weights[0], kScoreDecimals));
  }
  return step;
}

}  // namespace

Lesson scores_lesson(const WorkedScores& worked) {
  const bool divided = worked.dim > 0;
  const std::string symbol = divided ? "s / √d" : "s";
  Lesson lesson;
  lesson.title = Message::of("given.title");
  lesson.lead = divided ? Message::of("given.lead.width",
                                      {{"count", worked.scores.size()}, {"width", fmt::format("{:g}", worked.dim)}})
                        : Message::of("given.lead", {{"count", worked.scores.size()}});
  LessonStep scores = LessonStep::of("given.scores");
  scores.tables = {line_of("s", worked.scores, 2)};
  lesson.steps.push_back(std::move(scores));
  if (divided) lesson.steps.push_back(scaling_step(worked));
  lesson.steps.push_back(powers_step(worked, symbol));
  lesson.steps.push_back(weights_step(worked, symbol));
  const auto best = std::max_element(worked.weights.begin(), worked.weights.end());
  lesson.closing = {Message::of(
      "given.closing", {{"number", best - worked.weights.begin() + 1}, {"weight", fmt::format("{:.4f}", *best)}})};
  return lesson;
}

}  // namespace fovea::view
