// fovea run with a classifier: a label per line; with --scores every label and its probability, best first.
#include <fmt/format.h>

#include "cli/run/run_options.hpp"
#include "cli/run/run_outputs.hpp"
#include "fovea/classifier.hpp"
#include "fovea/error.hpp"

namespace fovea::cli {
namespace {

constexpr std::size_t kClassifiedBlock = 4096;  // lines

// Whether --attention shows the label's own attention to the text.
bool shows_pooling(const RunOptions& o) {
  return o.kind == "cross" || o.kind == "pooling";
}

AttentionRecord label_record(const RunOptions& o, const Classification& c) {
  AttentionRecord record = c.record();
  if (c.tokens.empty()) return record;
  if (o.kind == "all") {
    if (record.maps.empty()) throw UsageError("--kind: the model has no attention to write");
    return record;
  }
  if (!shows_pooling(o)) {
    if (record.maps.empty()) throw UsageError(fmt::format("--kind: the model has no {} attention", o.kind));
    record = record_of_kind(record, attention_kind(o.kind));
  }
  if (!o.all_heads) record.maps.clear();
  return record;
}

std::string line_of(const RunOptions& o, const Classification& c) {
  if (!o.scores && o.top == 0) return c.label;
  std::string line;
  for (const auto& [label, p] : c.ranked(static_cast<std::size_t>(o.top))) {
    line += fmt::format("{}{}\t{:.6f}", line.empty() ? "" : "\t", label, p);
  }
  return line;
}

}  // namespace

void run_classifier(const RunOptions& o, const ModelConfig& first, const Streams& streams) {
  const char* needs_one = o.saliency          ? "--saliency"
                          : o.all_heads       ? "--all-heads"
                          : o.kind != "cross" ? "--kind"
                                              : nullptr;
  if (needs_one != nullptr && o.models.size() > 1) {
    throw UsageError(fmt::format("{}: it goes with one model, {} are given", needs_one, o.models.size()));
  }
  if (o.saliency && o.attention_file.empty()) {
    throw UsageError("--saliency: it goes with --attention, the file to write to");
  }
  std::vector<LoadedModel> models;
  models.push_back(load_model(o.models[0], first, o.load));
  for (std::size_t m = 1; m < o.models.size(); ++m) models.push_back(load_model(o.models[m], o.load));
  const Classifier classifier(std::move(models), o.load);
  const bool wants_attention = !o.attention_file.empty();
  if (wants_attention && !o.saliency && shows_pooling(o) && !classifier.config().attends()) {
    throw UsageError(fmt::format("--attention: {} has no attention to show", o.models[0]));
  }
  ClassifyOptions how{.saliency = o.saliency};
  if (o.how.batch_tokens) how.batch_tokens = *o.how.batch_tokens;
  if (wants_attention && o.wants_maps()) {
    how.kinds = o.kind == "cross" ? std::vector{AttentionKind::pooling} : o.kinds();
  }
  RunOutputs outputs(o, streams);
  SharedInput input(streams, kClassifiedBlock);
  while (input.next()) {
    SharedInput::Outputs block;
    std::vector<AttentionRecord> records;
    for (const Classification& c : classifier.classify(input.lines(), how)) {
      block.out += line_of(o, c) + '\n';
      if (wants_attention) records.push_back(label_record(o, c));
    }
    outputs.write(input, std::move(block), records);
  }
  outputs.commit();
}

}  // namespace fovea::cli
