#include "cli/inspect/explain_model.hpp"

#include <fmt/format.h>

#include "fovea/classifier.hpp"
#include "fovea/completer.hpp"
#include "fovea/error.hpp"
#include "fovea/inspector.hpp"
#include "fovea/safetensors.hpp"
#include "view/lesson/model_lesson.hpp"

namespace fovea::cli {
namespace {

constexpr int kExplainedTokens = 5;  // of a language model's continuation

void write_numbers(const std::string& file, const Trace& trace) {
  SafetensorsWriter writer;
  for (const Trace::Entry& entry : trace.entries()) writer.add(entry.name, entry.value);
  writer.write(file);
}

ModelRun run_of(const ExplainModelOptions& o) {
  const ModelConfig config = read_model_config(o.model);
  const Task task = config.task();
  if (task == Task::classify && o.target) {
    throw UsageError("--target: not available for a classifier, which writes no text");
  }
  if (task == Task::complete && o.target) {
    throw UsageError("--target: not available for a language model; put the whole text into SENTENCE");
  }
  std::vector<LoadedModel> models;
  models.push_back(load_model(o.model, config));
  if (task == Task::classify) return Classifier(std::move(models)).run(o.sentence);
  if (task == Task::complete) {
    return Completer(std::move(models[0])).run(o.sentence, {.max_length = kExplainedTokens});
  }
  const Translator translator(std::move(models));
  const Inspector inspector(translator);
  return o.target ? inspector.run_given(o.sentence, *o.target) : inspector.run(o.sentence);
}

}  // namespace

view::Lesson explain_model(const ExplainModelOptions& o) {
  view::ModelLessonOptions how{.kind = {}, .layer = o.layer, .head = o.head, .query = o.query, .key = o.key};
  if (o.kind) how.kind = attention_kind(*o.kind);
  how.language = o.language.value_or(view::language_of(o.sentence));
  const ModelRun run = run_of(o);
  view::Lesson lesson = view::model_lesson(run, how);
  if (!o.numbers.empty()) write_numbers(o.numbers, run.trace);
  return lesson;
}

}  // namespace fovea::cli
