// A trained model's own numbers, step by step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fovea/model_run.hpp"
#include "view/lesson/lesson.hpp"

namespace fovea::view {

/// The part of the model to show.
struct ModelLessonOptions {
  std::optional<AttentionKind> kind{};         // empty: the encoder's self-attention, or what the model has
  int layer = 0, head = 0;                     // counted from 0
  std::optional<std::int64_t> query{}, key{};  // the pair whose sums are written out; empty: the largest weight
  LessonLanguage language = LessonLanguage::english;
};

/// Throws UsageError naming a kind, layer, head or position that the model lacks.
[[nodiscard]] Lesson model_lesson(const ModelRun& run, const ModelLessonOptions& options = {});

// The lessons by architecture.
[[nodiscard]] Lesson attention_lesson(const ModelRun& run, AttentionKind kind, const ModelLessonOptions& options);
[[nodiscard]] Lesson rnn_lesson(const ModelRun& run, const ModelLessonOptions& options);
[[nodiscard]] Lesson pooling_lesson(const ModelRun& run, const ModelLessonOptions& options);

// The steps that they share (model_steps.cpp).
/// The first step of every lesson: the line, its tokens and the model's output.
[[nodiscard]] LessonStep tokens_step(const ModelRun& run);
/// The window of a convolutional encoder or decoder (`side` "encoder" or "decoder") at position `at`.
[[nodiscard]] LessonStep window_step(const ModelRun& run, const std::string& side, int layer, std::int64_t at);
/// The most probable tokens at position `at` of the target, or labels.
[[nodiscard]] LessonStep next_step(const ModelRun& run, std::int64_t at);
/// Tokens under their display names (view/token_names.hpp).
[[nodiscard]] std::vector<Message> lesson_names(const std::vector<std::string>& tokens);
/// The target as the decoder reads it: after <s>, without its last token.
[[nodiscard]] std::vector<std::string> read_target(const ModelRun& run);
/// “line” → “output”.
[[nodiscard]] Message model_lead(const ModelRun& run);

/// A query and a key, by position.
struct ChosenPair {
  std::int64_t query = 0, key = 0;
};
/// The pair of the options, completed by the largest weight; in self-attention a different token where there is one.
/// Throws UsageError for a position outside the weights.
[[nodiscard]] ChosenPair chosen_pair(const AttentionMatrix& weights, const ModelLessonOptions& options,
                                     bool self_attention);

}  // namespace fovea::view
