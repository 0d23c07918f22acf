#include "fovea/translator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/error.hpp"
#include "fovea/threads.hpp"
#include "tasks/pair_learner.hpp"
#include "tasks/translation/loaded_translator.hpp"
#include "train/cut_batch.hpp"

namespace fovea {
namespace {

struct TextPairs final : text::Pairs {
  std::vector<std::vector<std::int32_t>> sources, targets, copied;
  [[nodiscard]] std::int64_t size() const override { return static_cast<std::int64_t>(sources.size()); }
  [[nodiscard]] std::span<const std::int32_t> source(std::int64_t i) const override {
    return sources[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] std::span<const std::int32_t> target(std::int64_t i) const override {
    return targets[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] std::span<const std::int32_t> copies(std::int64_t i) const override {
    return copied[static_cast<std::size_t>(i)];
  }
};

std::vector<LoadedModel> load_models(std::span<const std::filesystem::path> folders, const LoadOptions& how) {
  std::vector<LoadedModel> models;
  for (const auto& folder : folders) models.push_back(load_model(folder, how));
  return models;
}

}  // namespace

Translator::Translator(const std::filesystem::path& folder, const LoadOptions& how)
    : Translator(std::span(&folder, 1), how) {}

Translator::Translator(std::span<const std::filesystem::path> folders, const LoadOptions& how)
    : Translator(load_models(folders, how), how) {}

Translator::Translator(std::vector<LoadedModel> models, const LoadOptions& how)
    : loaded_(std::make_unique<Loaded>(std::move(models), how)) {}

Translator::Translator(const ModelConfig& config, Tokenizers tokenizers, const Parameters& parameters)
    : loaded_(std::make_unique<Loaded>(config, std::move(tokenizers), parameters)) {}

Translator::~Translator() = default;

const ModelConfig& Translator::config() const {
  return loaded_->config();
}

const Tokenizers& Translator::tokenizers() const {
  return loaded_->both;
}

bool Translator::attends() const {
  return std::any_of(loaded_->members.begin(), loaded_->members.end(),
                     [](const auto& member) { return member->config.attends(); });
}

void Translator::check(const GenerateOptions& options) const {
  check_options(*loaded_, options);
  const std::size_t models = loaded_->members.size();
  const std::pair<const char*, bool> of_one_model[] = {{"kinds", !options.kinds.empty()},
                                                       {"interventions", !options.interventions.empty()},
                                                       {"layer", options.layer.has_value()},
                                                       {"head", options.head.has_value()}};
  for (const auto& [field, given] : of_one_model) {
    if (given && models > 1) {
      throw UsageError(field, fmt::format("it goes with one model, {} are given", models));
    }
  }
  const std::int64_t longest = loaded_->rules().longest;
  for (const auto& [field, given] :
       {std::pair("max_length", options.max_length.value_or(0)), {"min_length", options.min_length}}) {
    if (longest > 0 && given > longest) {
      throw UsageError(field, fmt::format("{} given, the model has learned positions for {} tokens", given, longest));
    }
  }
}

std::vector<std::vector<Generated>> Translator::translate(std::span<const std::string> lines,
                                                          const GenerateOptions& options,
                                                          const GenerateCall& call) const {
  check(options);
  std::vector<GenerationInput> inputs;
  inputs.reserve(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    inputs.push_back(loaded_->read_line(lines[i], i, options.interventions));
    GenerationInput& input = inputs.back();
    try {
      loaded_->check_length(input.length, call.first_line + static_cast<std::int64_t>(i));
    } catch (const Error& error) {
      if (!options.skip_unreadable) throw;
      input.error = error.what();
      input.length = 0;
    }
  }
  return generate(*loaded_, inputs, options, call);
}

Generated Translator::translate(const std::string& line, const GenerateOptions& options) const {
  return std::move(translate(std::span(&line, 1), options)[0][0]);
}

GenerationTrace Translator::trace(const std::string& line, const GenerateOptions& options,
                                  const GenerateCall& call) const {
  GenerateOptions how = options;
  how.attention = true;
  how.n_best = 1;
  if (how.kinds.empty() && loaded_->members.size() == 1) how.kinds = {AttentionKind::cross};
  check(how);
  const GenerationInput input = loaded_->read_line(line, 0, how.interventions);
  if (input.ids.empty()) throw UsageError("attention", "the line holds no text");
  loaded_->check_length(input.length, call.first_line);
  std::vector<BeamTree> trees;
  GenerationTrace trace{.output = std::move(generate(*loaded_, std::span(&input, 1), how, call, &trees)[0][0])};
  trace.beam = std::move(trees[0]);
  for (const auto& node : trace.beam.nodes) {
    trace.beam_tokens.push_back(node.step == 0 ? std::string() : loaded_->piece(input, node.token));
  }
  return trace;
}

std::vector<double> Translator::score(std::span<const std::string> sources,
                                      std::span<const std::string> targets) const {
  if (sources.size() != targets.size()) {
    throw UsageError("score", fmt::format("{} sources and {} targets", sources.size(), targets.size()));
  }
  if (loaded_->members.size() > 1) throw UsageError("score", "it takes a single model");
  TextPairs pairs;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    GenerationInput line = loaded_->read_line(sources[i], i);
    std::vector<std::int32_t> ids;
    std::vector<std::string> pieces;
    tokenizers().target->encode(targets[i], ids, &pieces);
    if (loaded_->copying) loaded_->copying->target(ids, pieces, line.words);
    pairs.sources.push_back(std::move(line.ids));
    pairs.copied.push_back(std::move(line.copies));
    pairs.targets.push_back(std::move(ids));
  }
  std::vector<double> results(sources.size());
  std::vector<std::int64_t> order(sources.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::size_t> ends;
  if (order.empty()) return results;
  cut_batch(PairExamples(pairs), order, 1024, threads(), ends);
  parallel_for(static_cast<std::int64_t>(ends.size()), 1, [&](std::int64_t from, std::int64_t to) {
    const NoGrad quiet;
    for (auto b = static_cast<std::size_t>(from); b < static_cast<std::size_t>(to); ++b) {
      const std::size_t begin = b == 0 ? 0 : ends[b - 1];
      const auto which = std::span<const std::int64_t>(order).subspan(begin, ends[b] - begin);
      PairBatch batch;
      batch.fill(pairs, which, loaded_->reads_end() ? Marks::end : Marks::none,
                 loaded_->copying ? loaded_->copying->vocabulary() : 0);
      const ModelCopies<Seq2Seq>::Lease lease(loaded_->members[0]->copies);
      std::vector<double> part(which.size());
      lease.model().score(batch.source.view(), batch.target.view(), batch.wanted.view().ids, part);
      for (std::size_t i = 0; i < which.size(); ++i) {
        if (std::isnan(part[i])) {
          throw Error(fmt::format("line {}: the model gives no probability; its weights may hold NaN", which[i] + 1));
        }
        results[static_cast<std::size_t>(which[i])] = part[i];
      }
    }
  });
  return results;
}

}  // namespace fovea
