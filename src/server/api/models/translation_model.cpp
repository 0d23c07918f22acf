#include "server/api/models/translation_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/heap_bytes.hpp"
#include "fovea/error.hpp"
#include "fovea/inspector.hpp"
#include "server/api/answer_memory.hpp"
#include "tasks/generation/maps.hpp"
#include "text/languages.hpp"

namespace fovea::server {
namespace {

// Characters of a line: enough for any sentence, and few enough that a line never takes seconds. The search writes up
// to twice as many tokens as it reads, with a token per character at worst.
constexpr std::size_t kLongest = 400;

// Tokens of a line beyond one per character, such as the initial space.
constexpr std::size_t kMarks = 16;

std::size_t longest_line(const ModelConfig& config) {
  // The source and its translation must fit into the learned positions.
  std::size_t longest = kLongest;
  for (const std::int64_t positions : {config.longest_source(), config.longest_target()}) {
    if (positions > 0)
      longest = std::min(longest, static_cast<std::size_t>(std::max<std::int64_t>(64, positions) - 32) / 2);
  }
  return longest;
}

// Without the end of sequence.
std::int64_t tokens_of(const std::vector<std::string>& tokens) {
  return tokens.empty() ? 0 : static_cast<std::int64_t>(tokens.size()) - 1;
}

TranslationJob& job_of(const Item& item) {
  return static_cast<TranslationJob&>(*item.job);  // a model receives only its own jobs
}

// The trace of a given output, as if the search had found it; without a beam.
GenerationTrace traced(const Translator& translator, const std::string& line, const std::string& output,
                       const GenerateOptions& how) {
  ModelRun run = Inspector(translator).run_given(line, output, how.interventions);
  GenerationTrace trace;
  trace.output.text = run.output;
  for (std::size_t i = 0; i < run.target.size(); ++i) {
    for (const Candidate& one : run.next[i]) {
      if (one.text == run.target[i]) {
        trace.output.log_probability += one.log_probability;
        break;
      }
    }
  }
  std::erase_if(run.attention.maps, [&how](const AttentionMap& map) {
    return std::find(how.kinds.begin(), how.kinds.end(), map.kind) == how.kinds.end();
  });
  trace.output.attention = std::move(run.attention);
  if (how.merge_words) merge_words(trace.output.attention, translator.tokenizers());
  return trace;
}

}  // namespace

void TranslationJob::prepare() {
  translations.resize(trace ? 0 : lines.size());
  traces.resize(trace ? lines.size() : 0);
}

std::unique_ptr<Model> TranslationModel::load(const ModelPlace& place) {
  auto translator = std::make_shared<const Translator>(place.folder, place.load);
  auto pair = text::language_pair(place.name.empty() ? translator->config().languages : place.name);
  if (!pair && !place.name.empty()) {
    throw UsageError(
        "model", fmt::format("\"{}\" is not the languages of {}, as in en-de=DIR", place.name, place.folder.string()));
  }
  if (!pair) pair = {"source", "target"};
  return std::make_unique<TranslationModel>(pair->first, pair->second, std::move(translator),
                                            std::make_unique<const Checkpoints>(place.folder, place.load));
}

TranslationModel::TranslationModel(std::string source, std::string target, std::shared_ptr<const Translator> translator,
                                   std::unique_ptr<const Checkpoints> checkpoints)
    : Model(Task::generate, source + "-" + target),
      source_(std::move(source)),
      target_(std::move(target)),
      translator_(std::move(translator)),
      longest_(longest_line(translator_->config())),
      checkpoints_(std::move(checkpoints)) {}

int TranslationModel::layers() const {
  return translator_->attends() ? translator_->config().attention_layers() : 0;
}

int TranslationModel::heads() const {
  return translator_->attends() ? translator_->config().attention_heads() : 0;
}

void TranslationModel::add_description(nlohmann::json& json) const {
  json["source"] = source_;
  json["target"] = target_;
  json["layers"] = layers();
  json["heads"] = heads();
  json["checkpoints"] = checkpoints_->steps();
}

void TranslationModel::check_checkpoint(std::int64_t step) const {
  checkpoints_->check(step);
}

std::shared_ptr<const Translator> TranslationModel::translator_of(const TranslationJob& job) const {
  return job.checkpoint ? checkpoints_->at(*job.checkpoint) : translator_;
}

std::size_t TranslationModel::most_tokens() const {
  return longest_ + kMarks;
}

LineLimit TranslationModel::reads() const {
  // A tokenizer that falls back to bytes may give more tokens than characters.
  const auto fits = [source = translator_->tokenizers().source, most = most_tokens()](std::string_view line) {
    return source->encode(line).size() <= most;
  };
  return {longest_, fits};
}

bool TranslationModel::together(const Job& first, const Job& second) const {
  const auto& a = static_cast<const TranslationJob&>(first);
  const auto& b = static_cast<const TranslationJob&>(second);
  return !a.trace && !b.trace && !a.explain && !b.explain && share_batch(a.how, b.how);
}

BatchTokens TranslationModel::run(std::span<const Item> items, BatchContext& context) const {
  const TranslationJob& first = job_of(items[0]);
  return first.explain ? explain(items[0], context)
         : first.trace ? trace(items[0], context)
                       : translate(items, context);
}

std::size_t TranslationModel::needs(const Item& item) const {
  const TranslationJob& job = job_of(item);
  return job.trace || job.explain ? 0 : most_attention_bytes(job.lines[item.line], most_tokens() + 1, job.how);
}

BatchTokens TranslationModel::translate(std::span<const Item> items, BatchContext& context) const {
  std::vector<std::string> lines;
  lines.reserve(items.size());
  for (const Item& item : items) lines.push_back(item.job->lines[item.line]);
  auto results = translator_->translate(lines, job_of(items[0]).how);
  BatchTokens done;
  for (std::size_t i = 0; i < items.size(); ++i) {
    TranslationJob& job = job_of(items[i]);
    if (results[i].empty()) {
      context.fail(job, "the model gave no output");
      continue;
    }
    done.read += tokens_of(results[i][0].attention.source);
    done.written += tokens_of(results[i][0].attention.target);
    context.release(job, needs(items[i]) - std::min(needs(items[i]), heap_bytes(results[i])));
    job.translations[items[i].line] = std::move(results[i]);
  }
  return done;
}

BatchTokens TranslationModel::trace(const Item& item, BatchContext& context) const {
  TranslationJob& job = job_of(item);
  GenerateOptions how = job.how;
  how.interventions = job.interventions.of_line(static_cast<std::int64_t>(item.line) + 1);
  MemoryReservation making = job.memory.sibling();  // of the maps while they are built: as tensors and by head
  const GenerateCall call{.before_maps = [&making](std::int64_t weights) {
    if (!making.grow(4 * sizeof(float) * static_cast<std::size_t>(weights))) throw OutOfMemory(Job::kNoMemory);
  }};
  const auto translator = translator_of(job);
  GenerationTrace trace = job.outputs.empty() ? translator->trace(job.lines[item.line], how, call)
                                              : traced(*translator, job.lines[item.line], job.outputs[item.line], how);
  AttentionRecord& record = trace.output.attention;
  const BatchTokens done{tokens_of(record.source), tokens_of(record.target)};
  if (!record.has_weights()) {  // tokens are sent with weights only
    record.source.clear();
    record.target.clear();
    record.copied.clear();
  }
  making.release();
  context.reserve(job, heap_bytes(trace));
  job.traces[item.line] = std::move(trace);
  return done;
}

BatchTokens TranslationModel::explain(const Item& item, BatchContext& context) const {
  TranslationJob& job = job_of(item);
  GenerateOptions how = job.how;
  how.interventions = job.interventions.of_line(job.first_line);
  const auto translator = translator_of(job);
  const ModelRun run = Inspector(*translator).run(job.lines[0], how);
  const view::Lesson lesson = view::model_lesson(run, *job.explain);
  job.lesson = job.as_page ? view::lesson_page(lesson) : view::lesson_json(lesson);
  context.reserve(job, job.lesson.size());
  return {tokens_of(run.source), tokens_of(run.target)};
}

}  // namespace fovea::server
