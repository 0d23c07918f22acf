#include "fovea/classifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/heap_bytes.hpp"
#include "fovea/error.hpp"
#include "fovea/model/text_classifier.hpp"
#include "fovea/ops.hpp"
#include "fovea/text.hpp"
#include "fovea/threads.hpp"
#include "tasks/classification/text_rows.hpp"
#include "tasks/model_copies.hpp"

namespace fovea {

struct Classifier::Loaded : PackedModel<TextClassifier> {
  using PackedModel::PackedModel;
};

namespace {

std::vector<LoadedModel> load_classifiers(std::span<const std::filesystem::path> folders, const LoadOptions& how) {
  std::vector<LoadedModel> models;
  for (const auto& folder : folders) models.push_back(load_model(folder, how));
  return models;
}

}  // namespace

Classifier::Classifier(const std::filesystem::path& folder, const LoadOptions& how)
    : Classifier(std::span(&folder, 1), how) {}

Classifier::Classifier(std::span<const std::filesystem::path> folders, const LoadOptions& how)
    : Classifier(load_classifiers(folders, how), how) {}

Classifier::Classifier(std::vector<LoadedModel> models, const LoadOptions& how) {
  if (models.empty()) throw UsageError("model", "no folder is given");
  LoadedModel& first = models[0];
  if (!std::holds_alternative<ClassifierConfig>(first.config.head)) {
    throw UsageError("model",
                     fmt::format("{} holds a {}, not a classifier", first.folder.string(), kind_of(first.config.head)));
  }
  tokenizers_ = first.tokenizers;
  first.parameters.unpack();  // saliency takes gradients through them
  loaded_ = std::make_unique<Loaded>(first.config, std::move(first.parameters), how);
  read_labels();
  for (std::size_t m = 1; m < models.size(); ++m) {
    std::vector<LoadedModel> one;
    one.push_back(std::move(models[m]));
    const std::string name = one[0].folder.string();
    others_.push_back(std::make_unique<const Classifier>(std::move(one), how));
    if (others_.back()->labels() == labels_) continue;
    throw UsageError("model", fmt::format("{} and {} have other labels; models that classify together need the same",
                                          first.folder.string(), name));
  }
}

Classifier::Classifier(const ModelConfig& config, Tokenizers tokenizers, const Parameters& parameters)
    : tokenizers_(std::move(tokenizers)), loaded_(std::make_unique<Loaded>(config, parameters.replica())) {
  read_labels();
}

Classifier::~Classifier() = default;

void Classifier::read_labels() {
  reader_ = std::make_unique<const text::SourceReader>(line_reader(loaded_->config, tokenizers_.source));
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

// A line on its way.
struct Classifier::Line {
  std::size_t number = 0;
  text::SourceLine source;
};

// A batch of lines, and where each one's rows begin: one, or one for each of its sentences.
struct Classifier::Batch {
  std::span<const Line> lines;
  TextRows rows;

  explicit Batch(std::span<const Line> all) : lines(all) {
    rows.fill(static_cast<std::int64_t>(lines.size()), [&](std::int64_t i) {
      const text::SourceLine& source = lines[static_cast<std::size_t>(i)].source;
      return TextSource{source.ids, source.parts()};
    });
  }

  // Calls body(line, sentence, row, words) for each row; `words` with its end of sequence.
  template <class Body>
  void each_row(const Body& body) const {
    std::int64_t row = 0;
    const auto lengths = rows.view().tokens.lengths;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::size_t count = std::max<std::size_t>(1, lines[i].source.sentence_ends.size());
      for (std::size_t s = 0; s < count; ++s, ++row) body(i, s, row, lengths[static_cast<std::size_t>(row)]);
    }
  }
};

namespace {

// The mean of what several models make of a text. One that could not read it leaves nothing to say.
Classification mean_of(std::span<const std::vector<Classification>> members, std::size_t line) {
  const Classification& first = members[0][line];
  const float share = 1 / static_cast<float>(members.size());
  Classification mean{.tokens = first.tokens, .attention = std::vector<float>(first.attention.size(), 0.0F)};
  bool same = true;  // tokens, and so what attention is of
  for (const auto& member : members) {
    const Classification& one = member[line];
    if (one.tokens.empty()) return {};
    for (const auto& [label, p] : one.probabilities) mean.probabilities[label] += share * p;
    same = same && one.tokens == first.tokens && one.attention.size() == first.attention.size();
    for (std::size_t t = 0; same && t < one.attention.size(); ++t) mean.attention[t] += share * one.attention[t];
  }
  if (!same) mean.attention = first.attention;
  std::tie(mean.label, mean.probability) = mean.ranked(1)[0];
  return mean;
}

}  // namespace

std::vector<Classification> Classifier::classify(std::span<const std::string> lines,
                                                 const ClassifyOptions& options) const {
  if (others_.empty()) return classify_alone(lines, options);
  if (options.saliency || !options.kinds.empty()) {
    throw UsageError(options.saliency ? "saliency" : "kinds",
                     fmt::format("it goes with one model, {} are given", others_.size() + 1));
  }
  std::vector<std::vector<Classification>> members;
  members.push_back(classify_alone(lines, options));
  for (const auto& other : others_) members.push_back(other->classify_alone(lines, options));
  std::vector<Classification> means(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) means[i] = mean_of(members, i);
  return means;
}

std::vector<Classification> Classifier::classify_alone(std::span<const std::string> lines,
                                                       const ClassifyOptions& options) const {
  std::vector<Classification> results(lines.size());
  std::vector<Line> order;
  const std::int64_t longest = config().longest_source();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Line line{i, {}};
    reader_->read(lines[i], line.source);
    const auto length = line.source.longest_sentence() + 1;
    if (longest > 0 && length > longest) {
      if (!options.skip_long) {
        throw Error(
            fmt::format("line {} has {} tokens, but the model has learned positions for {}", i + 1, length, longest));
      }
      continue;
    }
    if (!line.source.ids.empty()) order.push_back(std::move(line));
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Line& a, const Line& b) { return a.source.ids.size() > b.source.ids.size(); });
  std::vector<std::size_t> ends;  // of the batches, each of lines of similar length
  for (std::size_t begin = 0; begin < order.size();) {
    const auto width = static_cast<std::int64_t>(order[begin].source.ids.size()) + 1;
    begin += std::min(static_cast<std::size_t>(std::max<std::int64_t>(1, options.batch_tokens / width)),
                      order.size() - begin);
    ends.push_back(begin);
  }
  parallel_for(static_cast<std::int64_t>(ends.size()), 1, [&](std::int64_t from, std::int64_t to) {
    const ModelCopies<TextClassifier>::Lease lease(loaded_->copies);
    for (auto b = static_cast<std::size_t>(from); b < static_cast<std::size_t>(to); ++b) {
      const std::size_t begin = b == 0 ? 0 : ends[b - 1];
      const Batch batch(std::span<const Line>(order).subspan(begin, ends[b] - begin));
      classify(batch, lease.model(), options, results);
      if (!options.saliency) continue;
      add_saliency(batch, lease.model(), options.saliency_labels, results);
      lease.parameters().zero_grad();
    }
  });
  return results;
}

namespace {

// Weights [queries, keys] of some tokens, without padding.
AttentionMap map_of(AttentionKind kind, int layer, int head, const Tensor& weights,
                    const std::vector<std::string>& queries, const std::vector<std::string>& keys) {
  const auto rows = static_cast<std::int64_t>(queries.size());
  const auto columns = static_cast<std::int64_t>(keys.size());
  AttentionMap map{kind, layer, head, queries, keys, {rows, columns, {}}, {}};
  for (std::int64_t q = 0; q < rows; ++q) {
    const float* row = weights.data() + q * weights.stride(0);
    map.weights.values.insert(map.weights.values.end(), row, row + columns);
  }
  return map;
}

}  // namespace

void Classifier::classify(const Batch& batch, const TextClassifier& model, const ClassifyOptions& options,
                          std::vector<Classification>& results) const {
  const NoGrad quiet;
  Pass pass;
  const TextBatch texts = batch.rows.view();
  const auto wants = [&](AttentionKind kind) {
    return std::find(options.kinds.begin(), options.kinds.end(), kind) != options.kinds.end();
  };
  const Memory memory = model.encode(model.embed(texts), texts, pass, wants(AttentionKind::encoder));
  const ClassifierHead::Pooled pooled = model.head().pool(memory, texts.sentences, pass, config().attends());
  const Tensor probabilities = softmax(model.head().logits(pooled.vector)).value();
  for (std::size_t i = 0; i < batch.lines.size(); ++i) {
    const Line& line = batch.lines[i];
    Classification& out = results[line.number];
    const float* p = probabilities.data() + static_cast<std::int64_t>(i) * probabilities.dim(1);
    const auto best = static_cast<std::size_t>(std::max_element(p, p + probabilities.dim(1)) - p);
    if (std::isnan(p[best])) {
      throw Error(fmt::format("line {}: the model gives no probability; its weights may hold NaN", line.number + 1));
    }
    out.label = labels_[best];
    out.probability = p[best];
    for (std::size_t l = 0; l < labels_.size(); ++l) out.probabilities.emplace(labels_[l], p[l]);
  }
  std::size_t at = 0;
  batch.each_row([&](std::size_t i, std::size_t s, std::int64_t row, std::int64_t words) {
    const Line& line = batch.lines[i];
    Classification& out = results[line.number];
    if (s == 0) at = 0;
    for (std::int64_t t = 0; t + 1 < words; ++t) out.tokens.push_back(line.source.pieces[at++]);
    out.tokens.emplace_back("</s>");
    const bool whole = line.source.sentence_ends.size() < 2;  // the text is one row
    for (std::size_t l = 0; whole && l < memory.attention.size(); ++l) {
      const Tensor heads = memory.attention[l].value().select(0, row).contiguous();
      for (std::int64_t h = 0; h < heads.dim(0); ++h) {
        out.maps.push_back(map_of(AttentionKind::encoder, static_cast<int>(l), static_cast<int>(h), heads.select(0, h),
                                  out.tokens, out.tokens));
      }
    }
    if (!pooled.weights) return;
    const Tensor w = pooled.weights.value().select(0, row).contiguous();  // [hops, length]
    const float share =
        pooled.sentence_weights
            ? pooled.sentence_weights.value().select(0, static_cast<std::int64_t>(i)).contiguous().data()[s]
            : 1.0F / static_cast<float>(w.dim(0));
    for (std::int64_t t = 0; t < words; ++t) {
      float sum = 0;
      for (std::int64_t h = 0; h < w.dim(0); ++h) sum += w.data()[h * w.dim(1) + t] * share;
      out.attention.push_back(sum);
    }
    if (!wants(AttentionKind::pooling)) return;
    for (std::int64_t h = 0; whole && h < w.dim(0); ++h) {
      out.maps.push_back(
          map_of(AttentionKind::pooling, 0, static_cast<int>(h), w.slice(0, h, h + 1), {out.label}, out.tokens));
    }
    if (!whole && s + 1 == line.source.sentence_ends.size()) {  // words times sentences, as one map
      const auto count = static_cast<std::int64_t>(out.attention.size());
      out.maps.push_back(
          map_of(AttentionKind::pooling, 0, 0, Tensor::of({1, count}, out.attention), {out.label}, out.tokens));
    }
  });
}

ModelRun Classifier::run(const std::string& text) const {
  const NoGrad quiet;
  ClassifyOptions how;
  for (const AttentionKindInfo& info : attention_kinds) how.kinds.push_back(info.kind);
  const Classification found = classify(text, how);
  if (found.tokens.empty()) throw UsageError("explain: the line holds no text");
  Line line{0, {}};
  reader_->read(text, line.source);
  if (line.source.sentence_ends.size() > 1) {
    throw UsageError(
        fmt::format("explain: {} sentences, each encoded alone; give one of them", line.source.sentence_ends.size()));
  }
  const Batch batch(std::span<const Line>(&line, 1));
  const TextBatch texts = batch.rows.view();
  const ModelCopies<TextClassifier>::Lease lease(loaded_->copies);
  ModelRun run;
  run.config = config();
  run.input = text;
  run.output = found.label;
  run.source = found.tokens;
  run.target = {found.label};
  run.attention = found.record();
  Pass pass;
  pass.trace = &run.trace;
  const Var embedded = lease.model().embed(texts);
  pass.note("source", "embedding", embedded);
  const Memory memory = lease.model().encode(embedded, texts, pass, true);
  const ClassifierHead::Pooled pooled = lease.model().head().pool(memory, texts.sentences, pass, config().attends());
  if (pooled.weights) pass.note("pooling", "weights", pooled.weights);
  pass.note("pooling", "vector", pooled.vector);
  pass.note("output", "logits", lease.model().head().logits(pooled.vector));
  for (const auto& entry : loaded_->parameters.entries()) {
    run.weights.push_back({entry.name, entry.values()});
  }
  constexpr std::size_t most = 8;
  std::vector<Candidate> candidates;
  for (const auto& [label, probability] : found.ranked(most)) candidates.push_back({label, std::log(probability)});
  run.next.push_back(std::move(candidates));
  return run;
}

// Gradient times input (Shrikumar et al. 2017; Denil et al. 2014): for each rank one forward and backward, in which
// every text has the label that is its likeliest but so many.
void Classifier::add_saliency(const Batch& batch, const TextClassifier& model, int most,
                              std::vector<Classification>& results) const {
  const TextBatch texts = batch.rows.view();
  const auto count = static_cast<std::int64_t>(labels_.size());
  std::map<std::string, std::int64_t> numbers;
  for (std::int64_t l = 0; l < count; ++l) numbers.emplace(labels_[static_cast<std::size_t>(l)], l);
  std::vector<std::vector<std::pair<std::string, float>>> ranked;
  for (const Line& line : batch.lines) ranked.push_back(results[line.number].ranked());
  const Tensor vectors = [&] {
    const NoGrad quiet;
    return model.embed(texts).value();
  }();
  const std::int64_t width = vectors.dim(2);
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(std::min<std::int64_t>(most, count)); ++rank) {
    const Var input = Var::parameter(vectors);
    Pass pass;
    const Memory memory = model.encode(input, texts, pass);
    const Var logits = model.head().logits(model.head().pool(memory, texts.sentences, pass).vector);
    const Tensor seed = Tensor::full(logits.shape(), -1.0F / static_cast<float>(count));
    for (std::size_t i = 0; i < ranked.size(); ++i) {
      seed.data()[static_cast<std::int64_t>(i) * count + numbers.at(ranked[i][rank].first)] += 1;
    }
    backward(logits, seed);
    const Tensor gradient = input.grad();
    batch.each_row([&](std::size_t i, std::size_t, std::int64_t row, std::int64_t words) {
      std::vector<float>& out = results[batch.lines[i].number].saliency[ranked[i][rank].first];
      for (std::int64_t t = 0; t < words; ++t) {
        const std::int64_t at = (row * vectors.dim(1) + t) * width;
        double sum = 0;
        for (std::int64_t k = 0; k < width; ++k) {
          sum += static_cast<double>(gradient.data()[at + k]) * vectors.data()[at + k];
        }
        out.push_back(static_cast<float>(sum));
      }
    });
  }
}

std::vector<std::pair<std::string, float>> Classification::ranked(std::size_t most) const {
  std::vector<std::pair<std::string, float>> all(probabilities.begin(), probabilities.end());
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  if (most > 0 && all.size() > most) all.resize(most);
  return all;
}

std::size_t heap_bytes(const Classification& result) {
  return heap_bytes(result.label) + heap_bytes(result.probabilities) + heap_bytes(result.tokens) +
         heap_bytes(result.attention) + heap_bytes(result.saliency) + heap_bytes(result.maps);
}

AttentionRecord Classification::record() const {
  AttentionRecord r;
  if (tokens.empty()) return r;
  r.source = tokens;
  r.target = {label};
  if (!attention.empty()) r.weights = {1, static_cast<std::int64_t>(attention.size()), attention};
  r.maps = maps;
  for (const auto& [name, p] : ranked()) {
    const auto found = saliency.find(name);
    r.labels.push_back({name, p, found == saliency.end() ? std::vector<float>{} : found->second});
  }
  return r;
}

}  // namespace fovea
