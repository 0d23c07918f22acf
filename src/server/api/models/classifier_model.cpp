#include "server/api/models/classifier_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/heap_bytes.hpp"
#include "server/http/fields.hpp"

namespace fovea::server {
namespace {

// Self-attention takes quadratic time: a few thousand tokens take about a second.
constexpr std::size_t kLongestEncoded = 4096;

std::size_t longest_text(const ModelConfig& config) {
  std::size_t longest = std::numeric_limits<std::size_t>::max();
  if (layers_of(config.encoder) > 0) longest = kLongestEncoded;
  if (const std::int64_t positions = config.longest_source(); positions > 0) {
    longest = std::min(longest, static_cast<std::size_t>(positions));
  }
  return longest;
}

ClassificationJob& classification_of(const Item& item) {
  return static_cast<ClassificationJob&>(*item.job);  // a model receives only its own jobs
}

}  // namespace

std::unique_ptr<Model> ClassifierModel::load(const ModelPlace& place) {
  return std::make_unique<ClassifierModel>(place.name_or_folder(),
                                           std::make_unique<const Classifier>(place.folder, place.load));
}

ClassifierModel::ClassifierModel(std::string name, std::unique_ptr<const Classifier> classifier)
    : Model(Task::classify, std::move(name)),
      classifier_(std::move(classifier)),
      longest_(longest_text(classifier_->config())) {}

void ClassifierModel::add_description(nlohmann::json& json) const {
  json["labels"] = labels();
  json["attention"] = attends();
  json["saliency"] = true;
}

void ClassifierModel::check_length(std::string_view text) const {
  if (text.size() < longest_) return;  // a token has at least a byte
  const std::size_t tokens = classifier_->tokenizers().source->encode(text).size() + 1;
  if (tokens > longest_) {
    throw Refusal(400, fmt::format("Invalid request: the text has {} tokens, the model {} reads up to {}", tokens,
                                   name(), longest_));
  }
}

bool ClassifierModel::together(const Job& first, const Job& second) const {
  return static_cast<const ClassificationJob&>(first).how == static_cast<const ClassificationJob&>(second).how;
}

BatchTokens ClassifierModel::run(std::span<const Item> items, BatchContext& context) const {
  std::vector<std::string> lines;
  lines.reserve(items.size());
  for (const Item& item : items) lines.push_back(item.job->lines[item.line]);
  auto results = classifier_->classify(lines, classification_of(items[0]).how);
  BatchTokens done;
  for (std::size_t i = 0; i < items.size(); ++i) {
    ClassificationJob& job = classification_of(items[i]);
    done.read += static_cast<std::int64_t>(results[i].tokens.size());
    context.reserve(job, heap_bytes(results[i]));
    job.results[items[i].line] = std::move(results[i]);
  }
  return done;
}

}  // namespace fovea::server
