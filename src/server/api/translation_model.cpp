#include "server/api/translation_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/error.hpp"
#include "text/languages.hpp"

namespace fovea::server {
namespace {

// Long enough for any sentence people write, short enough that one line never takes seconds: search writes up to twice
// as many tokens as it reads, and there is a token per character at worst.
constexpr std::size_t kLongest = 400;

// Tokens of a line beyond one per character, such as the space before its first word.
constexpr std::size_t kMarks = 16;

std::size_t longest_line(const ModelConfig& config) {
  // The source and its translation must fit into the positions that the model has learned.
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

std::size_t numbers_of(const std::vector<std::vector<float>>& matrix) {
  std::size_t count = 0;
  for (const auto& row : matrix) count += row.size();
  return count;
}

TranslationJob& job_of(const Item& item) {
  return static_cast<TranslationJob&>(*item.job);  // only its own jobs come to a model
}

}  // namespace

void TranslationJob::prepare() {
  translations.resize(trace ? 0 : lines.size());
  traces.resize(trace ? lines.size() : 0);
}

std::unique_ptr<Model> TranslationModel::load(const ModelPlace& place) {
  auto translator = std::make_shared<const Translator>(place.folder);
  auto pair = text::language_pair(place.name.empty() ? translator->config().languages : place.name);
  if (!pair && !place.name.empty()) {
    throw UsageError(
        fmt::format("model: \"{}\" is not the languages of {}, as in en-de=DIR", place.name, place.folder.string()));
  }
  if (!pair) pair = {"source", "target"};
  return std::make_unique<TranslationModel>(pair->first, pair->second, std::move(translator));
}

TranslationModel::TranslationModel(std::string source, std::string target, std::shared_ptr<const Translator> translator)
    : Model(Task::generate, source + "-" + target),
      source_(std::move(source)),
      target_(std::move(target)),
      translator_(std::move(translator)),
      longest_(longest_line(translator_->config())) {}

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
}

std::size_t TranslationModel::most_tokens() const {
  return longest_ + kMarks;
}

LineLimit TranslationModel::reads() const {
  // What has more tokens than characters, as with a tokenizer that falls back to bytes, is cut too.
  const auto fits = [source = translator_->tokenizers().source, most = most_tokens()](std::string_view line) {
    return source->encode(line).size() <= most;
  };
  return {longest_, fits};
}

bool TranslationModel::together(const Job& first, const Job& second) const {
  const auto& a = static_cast<const TranslationJob&>(first);
  const auto& b = static_cast<const TranslationJob&>(second);
  return !a.trace && !b.trace && a.how.beam == b.how.beam && a.how.n_best == b.how.n_best &&
         a.how.attention == b.how.attention && a.how.merge_words == b.how.merge_words;
}

Worker::Done TranslationModel::run(std::span<const Item> items, Desk& desk) const {
  return job_of(items[0]).trace ? trace(items[0], desk) : translate(items, desk);
}

Worker::Done TranslationModel::translate(std::span<const Item> items, Desk& desk) const {
  std::vector<std::string> lines;
  lines.reserve(items.size());
  for (const Item& item : items) lines.push_back(item.job->lines[item.line]);
  auto results = translator_->translate(lines, job_of(items[0]).how);
  Done done;
  for (std::size_t i = 0; i < items.size(); ++i) {
    TranslationJob& job = job_of(items[i]);
    if (results[i].empty()) {
      desk.fail(job, "the model gave no output");
      continue;
    }
    done.read += tokens_of(results[i][0].source_tokens);
    done.written += tokens_of(results[i][0].target_tokens);
    std::size_t numbers = 0;
    for (const Translation& t : results[i]) numbers += numbers_of(t.attention);
    if (numbers > 0) desk.hold(job, numbers * sizeof(float));
    job.translations[items[i].line] = std::move(results[i]);
  }
  return done;
}

Worker::Done TranslationModel::trace(const Item& item, Desk& desk) const {
  TranslationJob& job = job_of(item);
  TranslationTrace trace = translator_->trace(job.lines[item.line], job.how);
  std::size_t numbers = numbers_of(trace.translation.attention) + trace.beam.nodes.size() * 16;
  for (const AttentionMap& map : trace.attention.maps) numbers += map.weights.values.size();
  desk.hold(job, numbers * sizeof(float));
  job.traces[item.line] = std::move(trace);
  const Translation& t = job.traces[item.line].translation;
  return {tokens_of(t.source_tokens), tokens_of(t.target_tokens)};
}

}  // namespace fovea::server
