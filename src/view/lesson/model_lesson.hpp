// A trained model's own numbers told step by step.
#pragma once

#include <cstdint>
#include <optional>

#include "fovea/model_run.hpp"
#include "view/lesson/lesson.hpp"

namespace fovea::view {

/// Which part of the model is told.
struct ModelLessonOptions {
  std::optional<AttentionKind> kind{};         // empty: the encoder's self-attention, or what the model has
  int layer = 0, head = 0;                     // counted from 0
  std::optional<std::int64_t> query{}, key{};  // the pair whose sums are written out; empty: the strongest
  LessonLanguage language = LessonLanguage::english;
};

/// Throws UsageError naming a kind, layer, head or position that the model does not have.
[[nodiscard]] Lesson model_lesson(const ModelRun& run, const ModelLessonOptions& options = {});

// The lessons by architecture.
[[nodiscard]] Lesson attention_lesson(const ModelRun& run, AttentionKind kind, const ModelLessonOptions& options);
[[nodiscard]] Lesson rnn_lesson(const ModelRun& run, const ModelLessonOptions& options);
[[nodiscard]] Lesson pooling_lesson(const ModelRun& run, const ModelLessonOptions& options);

// What they share.
/// Every lesson's first step: the line, its tokens, and what the model made of it.
[[nodiscard]] LessonStep tokens_step(const ModelRun& run, LessonLanguage language);
/// Of a convolutional encoder or decoder (`side` "encoder" or "decoder"), the window of a position.
[[nodiscard]] LessonStep window_step(const ModelRun& run, const std::string& side, int layer, std::int64_t at,
                                     LessonLanguage language);
/// What the model would write at position `at` of its target.
[[nodiscard]] LessonStep next_step(const ModelRun& run, std::int64_t at, LessonLanguage language);
/// Tokens as the pages call them (view/token_names.hpp), their marks in the language.
[[nodiscard]] std::vector<std::string> lesson_names(const std::vector<std::string>& tokens, LessonLanguage language);
/// The target as the decoder reads it: behind <s>, without its last token.
[[nodiscard]] std::vector<std::string> read_target(const ModelRun& run);
/// “line” → “output”: the model's own numbers.
[[nodiscard]] std::string model_lead(const ModelRun& run, LessonLanguage language);
/// The softmax of a row of scores as it is computed: the maximum is subtracted first.
[[nodiscard]] std::string softmax_example(const std::string& name, const std::vector<double>& scores, std::int64_t at,
                                          double weight, LessonLanguage language, int decimals = 3);
/// A position of `count`, or the strongest pair of the weights. Throws UsageError.
struct ChosenPair {
  std::int64_t query = 0, key = 0;
};
[[nodiscard]] ChosenPair chosen_pair(const AttentionMatrix& weights, const ModelLessonOptions& options, bool same_side);

}  // namespace fovea::view
