// A lesson of the course that has models of its own: small enough to be trained while the reader waits.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fovea/error.hpp"

namespace fovea::learning {

/// How far a training is.
struct Progress {
  std::string model;  // which of the lesson's models
  int step = 0, steps = 0;
  double loss = 0;  // per output
};

/// Nobody waits for the training any more.
class Stopped : public Error {
 public:
  Stopped() : Error("the training was stopped") {}
};

/// Sees a training and may stop it; both may be empty. Asked at every step.
struct Watch {
  std::function<void(const Progress&)> progress = {};
  std::function<bool()> stop = {};

  /// Throws Stopped.
  void at(const Progress& now) const {
    if (stop && stop()) throw Stopped();
    if (progress) progress(now);
  }
};

/// Models that were trained for a lesson, and what can be asked of them. Answers are the JSON that the page draws.
/// Threads may share it.
class LiveLesson {
 public:
  LiveLesson() = default;
  virtual ~LiveLesson() = default;
  LiveLesson(const LiveLesson&) = delete;
  LiveLesson& operator=(const LiveLesson&) = delete;

  /// What came of the training.
  [[nodiscard]] virtual nlohmann::json facts() const = 0;
  /// Throws UsageError naming the field that cannot be.
  [[nodiscard]] virtual nlohmann::json ask(const nlohmann::json& question) const = 0;
  /// Questions whose answers a page without a server carries.
  [[nodiscard]] virtual std::vector<nlohmann::json> examples() const = 0;
};

/// Each trains its models. Throws Stopped.
[[nodiscard]] std::unique_ptr<LiveLesson> train_fixed_vector(const Watch& watch);   // an RNN with and without attention
[[nodiscard]] std::unique_ptr<LiveLesson> train_decoder_steps(const Watch& watch);  // Bahdanau's and Luong's decoder
[[nodiscard]] std::unique_ptr<LiveLesson> train_pronoun(const Watch& watch);  // self-attention that finds what 它 is
[[nodiscard]] std::unique_ptr<LiveLesson> train_many_heads(const Watch& watch);      // one, two and four heads
[[nodiscard]] std::unique_ptr<LiveLesson> train_three_encoders(const Watch& watch);  // RNN, CNN, Transformer

}  // namespace fovea::learning
