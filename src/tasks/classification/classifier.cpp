#include "fovea/classifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/error.hpp"
#include "fovea/model/text_classifier.hpp"
#include "fovea/ops.hpp"
#include "fovea/text.hpp"
#include "fovea/threads.hpp"
#include "tasks/model_copies.hpp"

namespace fovea {

struct Classifier::Loaded : PackedModel<TextClassifier> {
  using PackedModel::PackedModel;
};

Classifier::Classifier(const std::filesystem::path& folder, const LoadOptions& how) {
  LoadedModel loaded = load_model(folder, how);
  if (!std::holds_alternative<ClassifierConfig>(loaded.config.head)) {
    throw UsageError(
        fmt::format("model: {} holds a {}, not a classifier", folder.string(), kind_of(loaded.config.head)));
  }
  tokenizers_ = loaded.tokenizers;
  loaded_ = std::make_unique<Loaded>(loaded.config, std::move(loaded.parameters), how);
  read_labels();
}

Classifier::Classifier(const ModelConfig& config, Tokenizers tokenizers, const Parameters& parameters)
    : tokenizers_(std::move(tokenizers)), loaded_(std::make_unique<Loaded>(config, parameters.replica())) {
  read_labels();
}

Classifier::~Classifier() = default;

void Classifier::read_labels() {
  for (std::int32_t id = special_ids; id < tokenizers_.target->size(); ++id) {
    labels_.push_back(tokenizers_.target->piece(id));
  }
}

const ModelConfig& Classifier::config() const {
  return loaded_->config;
}

Classification Classifier::classify(const std::string& text, const ClassifyOptions& options) const {
  return std::move(classify(std::span(&text, 1), options)[0]);
}

std::vector<Classification> Classifier::classify(std::span<const std::string> lines,
                                                 const ClassifyOptions& options) const {
  struct Line {
    std::size_t number = 0;
    std::vector<std::int32_t> ids;
  };
  std::vector<Classification> results(lines.size());
  std::vector<Line> order;
  const std::int64_t longest = config().longest_source();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Line line{i, {}};
    tokenizers_.source->encode(lines[i], line.ids, &results[i].tokens);
    const auto length = static_cast<std::int64_t>(line.ids.size()) + 1;
    if (longest > 0 && length > longest) {
      if (!options.skip_long) {
        throw Error(
            fmt::format("line {} has {} tokens, but the model has learned positions for {}", i + 1, length, longest));
      }
      line.ids.clear();
    }
    if (line.ids.empty()) {
      results[i] = {};
      continue;
    }
    results[i].tokens.emplace_back("</s>");
    order.push_back(std::move(line));
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Line& a, const Line& b) { return a.ids.size() > b.ids.size(); });
  std::vector<std::size_t> ends;  // of the batches, each of lines of similar length
  for (std::size_t begin = 0; begin < order.size();) {
    const auto width = static_cast<std::int64_t>(order[begin].ids.size()) + 1;
    begin += std::min(static_cast<std::size_t>(std::max<std::int64_t>(1, options.batch_tokens / width)),
                      order.size() - begin);
    ends.push_back(begin);
  }
  parallel_for(static_cast<std::int64_t>(ends.size()), 1, [&](std::int64_t from, std::int64_t to) {
    const NoGrad quiet;
    const ModelCopies<TextClassifier>::Lease lease(loaded_->copies);
    PaddedTokens batch;
    for (auto b = static_cast<std::size_t>(from); b < static_cast<std::size_t>(to); ++b) {
      const std::size_t begin = b == 0 ? 0 : ends[b - 1];
      const auto rows = static_cast<std::int64_t>(ends[b] - begin);
      const auto line = [&](std::int64_t r) -> const Line& { return order[begin + static_cast<std::size_t>(r)]; };
      batch.fill(rows, Marks::end, [&](std::int64_t r) { return std::span<const std::int32_t>(line(r).ids); });
      Pass pass;
      const Memory memory = lease.model().encode(batch.view(), pass);
      const ClassifierHead::Pooled pooled = lease.model().head().pool(memory, config().attends());
      const Tensor probabilities = softmax(lease.model().head().logits(pooled.vector)).value();
      for (std::int64_t r = 0; r < rows; ++r) {
        Classification& out = results[line(r).number];
        const float* p = probabilities.data() + r * probabilities.dim(1);
        const auto best = static_cast<std::size_t>(std::max_element(p, p + probabilities.dim(1)) - p);
        if (std::isnan(p[best])) {
          throw Error(
              fmt::format("line {}: the model gives no probability; its weights may hold NaN", line(r).number + 1));
        }
        out.label = labels_[best];
        out.probability = p[best];
        for (std::size_t l = 0; l < labels_.size(); ++l) out.probabilities.emplace(labels_[l], p[l]);
        if (!pooled.weights) continue;
        const Tensor w = pooled.weights.value().select(0, r).contiguous();  // [hops, length]
        out.attention.assign(out.tokens.size(), 0.0F);
        for (std::int64_t h = 0; h < w.dim(0); ++h) {
          for (std::size_t t = 0; t < out.tokens.size(); ++t) {
            out.attention[t] += w.data()[h * w.dim(1) + static_cast<std::int64_t>(t)] / static_cast<float>(w.dim(0));
          }
        }
      }
    }
  });
  return results;
}

AttentionRecord Classification::record() const {
  AttentionRecord r;
  if (attention.empty()) return r;
  r.source = tokens;
  r.target = {label};
  r.weights = {1, static_cast<std::int64_t>(attention.size()), attention};
  return r;
}

}  // namespace fovea
