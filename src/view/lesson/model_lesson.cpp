#include "view/lesson/model_lesson.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/error.hpp"

namespace fovea::view {
namespace {

bool has_kind(const ModelRun& run, AttentionKind kind) {
  return std::any_of(run.attention.maps.begin(), run.attention.maps.end(),
                     [kind](const AttentionMap& map) { return map.kind == kind; });
}

bool decodes_by_rnn(const ModelRun& run) {
  const auto* generator = std::get_if<GeneratorConfig>(&run.config.head);
  return generator != nullptr && std::holds_alternative<RnnDecoderConfig>(generator->decoder);
}

// The kinds of the model, for errors.
std::string kinds_of(const ModelRun& run) {
  std::string names;
  for (const AttentionKindInfo& info : attention_kinds) {
    if (has_kind(run, info.kind)) names += (names.empty() ? "" : ", ") + std::string(info.name);
  }
  return names.empty() ? "none" : names;
}

AttentionKind default_kind(const ModelRun& run) {
  if (has_kind(run, AttentionKind::encoder)) return AttentionKind::encoder;
  if (run.config.task() == Task::complete && has_kind(run, AttentionKind::decoder)) return AttentionKind::decoder;
  if (has_kind(run, AttentionKind::cross)) return AttentionKind::cross;
  throw UsageError("kind", "the model has no attention");
}

Lesson lesson_of(const ModelRun& run, const ModelLessonOptions& options) {
  if (std::holds_alternative<ClassifierConfig>(run.config.head) &&
      options.kind.value_or(AttentionKind::pooling) == AttentionKind::pooling) {
    return pooling_lesson(run, options);
  }
  if (options.kind && !has_kind(run, *options.kind)) {
    throw UsageError("kind",
                     fmt::format("the model has no {} attention; it has {}", name_of(*options.kind), kinds_of(run)));
  }
  if (decodes_by_rnn(run) && options.kind.value_or(AttentionKind::cross) == AttentionKind::cross) {
    return rnn_lesson(run, options);
  }
  return attention_lesson(run, options.kind ? *options.kind : default_kind(run), options);
}

}  // namespace

ChosenPair chosen_pair(const AttentionMatrix& weights, const ModelLessonOptions& options, bool self_attention) {
  const auto check = [](const char* field, const std::optional<std::int64_t>& given, std::int64_t count) {
    if (given && (*given < 0 || *given >= count)) {
      throw UsageError(field, fmt::format("{} given, there are positions 0 to {}", *given, count - 1));
    }
  };
  check("query", options.query, weights.rows);
  check("key", options.key, weights.columns);
  ChosenPair best{options.query.value_or(0), options.key.value_or(0)};
  if (options.query && options.key) return best;
  const bool skip_diagonal = self_attention && weights.rows > 1 && !options.query;
  float most = -1;
  for (std::int64_t i = 0; i < weights.rows; ++i) {
    if (options.query && i != *options.query) continue;
    for (std::int64_t j = 0; j < weights.columns; ++j) {
      if (options.key && j != *options.key) continue;
      if ((skip_diagonal && i == j) || weights.at(i, j) <= most) continue;
      most = weights.at(i, j);
      best = {i, j};
    }
  }
  return best;
}

Lesson model_lesson(const ModelRun& run, const ModelLessonOptions& options) {
  Lesson lesson = lesson_of(run, options);
  lesson.lead = model_lead(run);
  lesson.folded = true;
  lesson.language = options.language;
  return lesson;
}

}  // namespace fovea::view
