#include "fovea/completer.hpp"

#include <fmt/format.h>

#include <cmath>

#include "fovea/error.hpp"
#include "fovea/text.hpp"
#include "fovea/threads.hpp"
#include "tasks/completion/loaded_completer.hpp"
#include "tasks/generation/options.hpp"

namespace fovea {
namespace {

LoadedModel checked_completer(LoadedModel model) {
  if (model.config.task() == Task::complete) return model;
  throw UsageError("model", fmt::format("{} has the task {}; only a language model continues a text",
                                        model.folder.string(), enum_text(model.config.task())));
}

}  // namespace

SearchRules Completer::Loaded::rules() const {
  SearchRules rules = GenerationTask::rules();
  rules.cut = true;
  return rules;
}

std::unique_ptr<const ReadBatch> Completer::Loaded::read(const BatchRequest&) const {
  auto batch = std::make_unique<ReadBatch>();
  (void)batch->add(model->copies);
  return batch;
}

void Completer::Loaded::write(const GenerationInput& input, const Hypothesis& h, const GenerateOptions&,
                              Generated& output) const {
  const Tokenizer& tokenizer = *both.target;
  std::vector<std::int32_t> whole = input.ids;
  whole.insert(whole.end(), h.tokens.begin(), h.tokens.end());
  output.text = tokenizer.decode(whole);
  output.continuation = tokenizer.decode(h.tokens);
  for (const std::int32_t id : whole) output.attention.target.push_back(tokenizer.piece(id));
  output.attention.source = output.attention.target;
}

Completer::Completer(const std::filesystem::path& folder, const LoadOptions& how)
    : Completer(load_model(folder, how), how) {}

Completer::Completer(LoadedModel model, const LoadOptions& how) {
  LoadedModel checked = checked_completer(std::move(model));
  loaded_ = std::make_unique<Loaded>(checked.config, checked.tokenizers, std::move(checked.parameters), how);
}

Completer::Completer(const ModelConfig& config, Tokenizers tokenizers, const Parameters& parameters)
    : loaded_(std::make_unique<Loaded>(config, std::move(tokenizers), parameters.replica())) {}

Completer::~Completer() = default;

const ModelConfig& Completer::config() const {
  return loaded_->config();
}

const Tokenizer& Completer::tokenizer() const {
  return *loaded_->both.target;
}

void Completer::check(const GenerateOptions& options) const {
  check_options(*loaded_, completion_options(options));
  if (options.attention && !std::holds_alternative<TransformerConfig>(config().generator().decoder)) {
    throw UsageError("attention", "the model has none to show");
  }
}

Generated Completer::complete(const std::string& text, const GenerateOptions& options) const {
  return std::move(complete(std::span(&text, 1), options)[0][0]);
}

std::vector<std::vector<Generated>> Completer::complete(std::span<const std::string> texts,
                                                        const GenerateOptions& options,
                                                        const GenerateCall& call) const {
  check(options);
  const GenerateOptions how = completion_options(options);
  std::vector<GenerationInput> inputs(texts.size());
  const std::int64_t longest = config().longest_target();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    GenerationInput& input = inputs[i];
    input.number = i;
    input.ids = tokenizer().encode(texts[i]);
    const auto length = static_cast<std::int64_t>(input.ids.size());
    if (length > 0) input.length = length + *how.max_length;
    if (longest == 0 || length < longest) continue;
    input.error =
        fmt::format("line {} has {} tokens, but the model has learned positions for {}, and what it writes needs some",
                    call.first_line + static_cast<std::int64_t>(i) + 1, length, longest);
    if (!options.skip_unreadable) throw Error(input.error);
    input.length = 0;
  }
  return generate(*loaded_, inputs, how, call);
}

std::vector<double> Completer::score(std::span<const std::string> texts) const {
  return score(std::vector<std::string>(texts.size()), texts);
}

std::vector<double> Completer::score(std::span<const std::string> prompts, std::span<const std::string> texts) const {
  if (prompts.size() != texts.size()) {
    throw UsageError("score", fmt::format("{} prompts and {} texts", prompts.size(), texts.size()));
  }
  struct Row {
    std::vector<std::int32_t> fed, wanted;
  };
  std::vector<Row> rows;
  const std::int64_t longest = config().longest_target();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Row row{tokenizer().encode(prompts[i]), {}};
    if (row.fed.empty()) row.fed = {bos_id};
    const std::vector<std::int32_t> ids = tokenizer().encode(texts[i]);
    row.wanted.assign(row.fed.size() - 1, pad_id);
    row.wanted.insert(row.wanted.end(), ids.begin(), ids.end());
    row.wanted.push_back(eos_id);
    row.fed.insert(row.fed.end(), ids.begin(), ids.end());
    if (longest > 0 && static_cast<std::int64_t>(row.fed.size()) > longest) {
      throw Error(fmt::format("line {} has {} tokens, but the model has learned positions for {}", i + 1,
                              row.fed.size(), longest));
    }
    rows.push_back(std::move(row));
  }
  std::vector<double> results(texts.size());
  parallel_for(static_cast<std::int64_t>(texts.size()), 1, [&](std::int64_t from, std::int64_t to) {
    const NoGrad quiet;
    const ModelCopies<LanguageModel>::Lease lease(loaded_->model->copies);
    for (auto i = static_cast<std::size_t>(from); i < static_cast<std::size_t>(to); ++i) {
      PaddedTokens fed;
      fed.fill(
          1, Marks::none, [&](std::int64_t) -> const auto& { return rows[i].fed; });
      lease.model().score(fed.view(), rows[i].wanted, {&results[i], 1});
      if (std::isnan(results[i])) {
        throw Error(fmt::format("line {}: the model gives no probability; its weights may hold NaN", i + 1));
      }
    }
  });
  return results;
}

}  // namespace fovea
