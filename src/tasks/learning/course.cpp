#include "tasks/learning/course.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/serial_scope.hpp"

namespace fovea::learning {
namespace {

struct KnownLesson {
  const char* name;
  std::unique_ptr<LiveLesson> (*train)(const Watch& watch);
};

// Each lesson with models has one line here.
constexpr KnownLesson kKnown[] = {{"fixed", train_fixed_vector},
                                  {"steps", train_decoder_steps},
                                  {"qkv", train_pronoun},
                                  {"heads", train_many_heads},
                                  {"encoders", train_three_encoders}};

const KnownLesson& known(std::string_view lesson) {
  for (const KnownLesson& one : kKnown) {
    if (one.name == lesson) return one;
  }
  throw UsageError(fmt::format("lesson: \"{}\" is not one of {}", lesson, fmt::join(Course::names(), ", ")));
}

// The facts of a lesson for the page.
nlohmann::json facts_of(const LiveLesson& lesson) {
  nlohmann::json facts = lesson.facts();
  facts["examples"] = lesson.examples();
  return facts;
}

}  // namespace

std::vector<std::string> Course::names() {
  std::vector<std::string> all;
  for (const KnownLesson& one : kKnown) all.emplace_back(one.name);
  return all;
}

void Course::check(std::string_view lesson) {
  (void)known(lesson);
}

std::shared_ptr<const LiveLesson> Course::find(const std::string& lesson) const {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(trained_.begin(), trained_.end(), [&lesson](const auto& one) { return one.first == lesson; });
  return found == trained_.end() ? nullptr : found->second;
}

nlohmann::json Course::train(const std::string& lesson, const Watch& watch, bool again) {
  const KnownLesson& how = known(lesson);
  const std::lock_guard alone(one_at_a_time_);
  if (const auto trained = find(lesson); trained != nullptr && !again) return facts_of(*trained);
  // These models are too small to gain from a second thread, which the server's other models may need.
  const SerialScope serial;
  const auto set_training = [this](nlohmann::json now) {
    const std::lock_guard lock(mutex_);
    training_ = std::move(now);
  };
  Watch inner = watch;
  inner.progress = [&](const Progress& now) {
    set_training(
        {{"lesson", lesson}, {"model", now.model}, {"step", now.step}, {"steps", now.steps}, {"loss", now.loss}});
    if (watch.progress) watch.progress(now);
  };
  std::shared_ptr<const LiveLesson> made;
  try {
    made = how.train(inner);
  } catch (...) {
    set_training(nullptr);
    throw;
  }
  const std::lock_guard lock(mutex_);
  training_ = nullptr;
  std::erase_if(trained_, [&lesson](const auto& one) { return one.first == lesson; });
  trained_.emplace_back(lesson, made);
  return facts_of(*made);
}

nlohmann::json Course::facts(const std::string& lesson) const {
  check(lesson);
  const auto trained = find(lesson);
  return trained == nullptr ? nlohmann::json() : facts_of(*trained);
}

nlohmann::json Course::ask(const std::string& lesson, const nlohmann::json& question) const {
  check(lesson);
  const auto trained = find(lesson);
  if (trained == nullptr)
    throw UsageError(fmt::format("lesson: {} is not trained; POST /learn/train trains it", lesson));
  return trained->ask(question);
}

nlohmann::json Course::state() const {
  const std::lock_guard lock(mutex_);
  auto names = nlohmann::json::array();
  for (const auto& [name, lesson] : trained_) names.push_back(name);
  return {{"trained", names}, {"training", training_}};
}

nlohmann::json Course::record(const Watch& watch) {
  nlohmann::json all;
  for (const std::string& name : names()) {
    all[name]["facts"] = train(name, watch);
    const auto lesson = find(name);
    auto answers = nlohmann::json::array();
    for (const nlohmann::json& question : lesson->examples()) {
      answers.push_back({{"question", question}, {"answer", lesson->ask(question)}});
    }
    all[name]["answers"] = std::move(answers);
  }
  return all;
}

}  // namespace fovea::learning
