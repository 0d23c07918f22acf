// The lessons of the course that have models: trained when they are asked for, and kept.
#pragma once

#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/learning/live_lesson.hpp"

namespace fovea::learning {

/// Threads share it. One training at a time: whoever comes second waits.
class Course {
 public:
  /// Of all lessons that have models, in their order.
  [[nodiscard]] static std::vector<std::string> names();
  /// Throws UsageError for a lesson that does not exist.
  static void check(std::string_view lesson);

  /// What came of training a lesson, with `examples` of questions; trains only what is not there yet, or with `again`.
  /// On one thread, in some seconds. Throws Stopped when the watch stops it, and leaves what was there.
  nlohmann::json train(const std::string& lesson, const Watch& watch, bool again = false);
  /// The same when it is trained already; null when it is not.
  [[nodiscard]] nlohmann::json facts(const std::string& lesson) const;
  /// Throws UsageError when it is not trained, or naming the field that cannot be.
  [[nodiscard]] nlohmann::json ask(const std::string& lesson, const nlohmann::json& question) const;
  /// {"trained": [lesson], "training": null or {lesson, model, step, steps, loss}}.
  [[nodiscard]] nlohmann::json state() const;
  /// Every lesson trained, with its facts and the answers to its examples: for a page without a server.
  [[nodiscard]] nlohmann::json record(const Watch& watch);

 private:
  [[nodiscard]] std::shared_ptr<const LiveLesson> find(const std::string& lesson) const;

  std::mutex one_at_a_time_;
  mutable std::mutex mutex_;                                                             // of what follows
  std::vector<std::pair<std::string, std::shared_ptr<const LiveLesson>>> trained_ = {};  // by name
  nlohmann::json training_ = nullptr;
};

}  // namespace fovea::learning
