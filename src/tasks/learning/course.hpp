// The lessons of the course that have models, which are trained on request and kept.
#pragma once

#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/learning/live_lesson.hpp"

namespace fovea::learning {

/// Threads may share it. Only one training runs at a time; others wait.
class Course {
 public:
  /// The lessons that have models, in order.
  [[nodiscard]] static std::vector<std::string> names();
  /// Throws UsageError for a lesson that does not exist.
  static void check(std::string_view lesson);

  /// Trains a lesson unless it is trained already, or trains it `again`, on one thread in some seconds. The result is
  /// its facts() with `examples` of questions. Throws Stopped when the watch stops it; the previous models stay.
  nlohmann::json train(const std::string& lesson, const Watch& watch, bool again = false);
  /// The same of a trained lesson; null if it is not trained.
  [[nodiscard]] nlohmann::json facts(const std::string& lesson) const;
  /// Throws UsageError if the lesson is not trained, or naming the invalid field.
  [[nodiscard]] nlohmann::json ask(const std::string& lesson, const nlohmann::json& question) const;
  /// {"trained": [lesson], "training": null or {lesson, model, step, steps, loss}}.
  [[nodiscard]] nlohmann::json state() const;
  /// The facts of every lesson and the answers to its examples, for a page without a server.
  [[nodiscard]] nlohmann::json record(const Watch& watch);

 private:
  [[nodiscard]] std::shared_ptr<const LiveLesson> find(const std::string& lesson) const;

  std::mutex one_at_a_time_;
  mutable std::mutex mutex_;                                                             // guards the fields below
  std::vector<std::pair<std::string, std::shared_ptr<const LiveLesson>>> trained_ = {};  // by name
  nlohmann::json training_ = nullptr;
};

}  // namespace fovea::learning
