// A lesson of the course with models of its own, small enough to train while the reader waits.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fovea/error.hpp"

namespace fovea::learning {

/// The progress of a training.
struct Progress {
  std::string model;  // of the lesson
  int step = 0, steps = 0;
  double loss = 0;  // per output
};

/// The watch stopped the training.
class Stopped : public Error {
 public:
  Stopped() : Error("the training was stopped") {}
};

/// Observes a training and may stop it. Both functions are called at every step and may be empty.
struct Watch {
  std::function<void(const Progress&)> progress = {};
  std::function<bool()> stop = {};

  /// Throws Stopped.
  void at(const Progress& now) const {
    if (stop && stop()) throw Stopped();
    if (progress) progress(now);
  }
};

/// The trained models of a lesson. Answers to questions are the JSON that the page draws. Threads may share it.
class LiveLesson {
 public:
  LiveLesson() = default;
  virtual ~LiveLesson() = default;
  LiveLesson(const LiveLesson&) = delete;
  LiveLesson& operator=(const LiveLesson&) = delete;

  /// The results of the training.
  [[nodiscard]] virtual nlohmann::json facts() const = 0;
  /// Throws UsageError naming the invalid field.
  [[nodiscard]] virtual nlohmann::json ask(const nlohmann::json& question) const = 0;
  /// Questions whose answers a page without a server contains.
  [[nodiscard]] virtual std::vector<nlohmann::json> examples() const = 0;
};

/// Each trains its models. Throws Stopped.
[[nodiscard]] std::unique_ptr<LiveLesson> train_fixed_vector(const Watch& watch);   // an RNN with and without attention
[[nodiscard]] std::unique_ptr<LiveLesson> train_decoder_steps(const Watch& watch);  // Bahdanau's and Luong's decoder
[[nodiscard]] std::unique_ptr<LiveLesson> train_pronoun(const Watch& watch);  // self-attention that resolves 它 (it)
[[nodiscard]] std::unique_ptr<LiveLesson> train_many_heads(const Watch& watch);      // one, two and four heads
[[nodiscard]] std::unique_ptr<LiveLesson> train_three_encoders(const Watch& watch);  // RNN, CNN, Transformer

}  // namespace fovea::learning
