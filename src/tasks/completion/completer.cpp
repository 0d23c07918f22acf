#include "fovea/completer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/error.hpp"
#include "fovea/text.hpp"
#include "fovea/threads.hpp"
#include "tasks/batches.hpp"
#include "tasks/completion/loaded.hpp"
#include "tasks/translation/maps.hpp"

namespace fovea {

Completer::Completer(const std::filesystem::path& folder, const LoadOptions& how) {
  LoadedModel loaded = load_model(folder, how);
  if (loaded.config.task() != Task::complete) {
    throw UsageError(fmt::format("model: {} has the task {}; only a language model continues a text", folder.string(),
                                 enum_text(loaded.config.task())));
  }
  tokenizers_ = loaded.tokenizers;
  loaded_ = std::make_unique<Loaded>(loaded.config, std::move(loaded.parameters), how);
}

Completer::Completer(const ModelConfig& config, Tokenizers tokenizers, const Parameters& parameters)
    : tokenizers_(std::move(tokenizers)), loaded_(std::make_unique<Loaded>(config, parameters.replica())) {}

Completer::~Completer() = default;

const ModelConfig& Completer::config() const {
  return loaded_->config;
}

SearchOptions CompleteOptions::search() const {
  return {.beam = beam,
          .length_penalty = length_penalty,
          .n_best = n_best,
          .min_length = min_length,
          .max_length = max_length,
          .no_repeat_ngram = no_repeat_ngram,
          .repetition_penalty = repetition_penalty,
          .sample = sample,
          .temperature = temperature,
          .top_k = top_k,
          .top_p = top_p,
          .seed = seed,
          .cut = true};
}

SearchOptions Completer::search_options(const CompleteOptions& options) const {
  SearchOptions search = options.search();
  search.longest = std::max<std::int64_t>(0, config().longest_target() - 1);
  const auto& never = config().generator().suppressed;
  search.suppressed.insert(search.suppressed.end(), never.begin(), never.end());
  return search;
}

void Completer::check(const CompleteOptions& options) const {
  options.search().check();
  if (options.max_length < 1) throw UsageError("max_length: a continuation has at least one token");
  if (options.top_weights < 0) throw UsageError(fmt::format("top_weights: {} is below 0", options.top_weights));
  if (options.attention && !std::holds_alternative<TransformerConfig>(config().generator().decoder)) {
    throw UsageError("attention: the model has none to show");
  }
}

Completion Completer::complete(const std::string& text, const CompleteOptions& options) const {
  return std::move(complete(std::span(&text, 1), options)[0][0]);
}

std::vector<std::vector<Completion>> Completer::complete(std::span<const std::string> texts,
                                                         const CompleteOptions& options) const {
  check(options);
  std::vector<std::vector<Completion>> results(texts.size());
  std::vector<Prompt> prompts(texts.size());
  std::vector<const Prompt*> order;
  const std::int64_t longest = config().longest_target();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    prompts[i] = {i, tokenizer().encode(texts[i])};
    const auto length = static_cast<std::int64_t>(prompts[i].ids.size());
    if (longest > 0 && length >= longest) {
      throw Error(
          fmt::format("line {} has {} tokens, but the model has learned positions for {}, and what it writes "
                      "needs some",
                      options.first_line + static_cast<std::int64_t>(i) + 1, length, longest));
    }
    if (length == 0) {
      results[i].resize(static_cast<std::size_t>(options.n_best));
    } else {
      order.push_back(&prompts[i]);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Prompt* a, const Prompt* b) { return a->ids.size() > b->ids.size(); });
  std::vector<std::int64_t> lengths;
  for (const Prompt* p : order) lengths.push_back(static_cast<std::int64_t>(p->ids.size()) + options.max_length);
  decode_in_batches(lengths, {.tokens = options.batch_tokens, .beam = options.beam},
                    [&](std::size_t begin, std::size_t end) {
                      decode(std::span(order).subspan(begin, end - begin), options, results);
                    });
  return results;
}

void Completer::decode(std::span<const Prompt* const> prompts, const CompleteOptions& options,
                       std::vector<std::vector<Completion>>& results) const {
  const NoGrad quiet;
  const ModelCopies<LanguageModel>::Lease lease(loaded_->copies);
  std::vector<SearchInput> inputs;
  for (const Prompt* p : prompts) {
    inputs.push_back({.line = static_cast<std::uint64_t>(options.first_line) + p->number, .prompt = p->ids});
  }
  const auto stepper = lease.model().start(static_cast<std::int64_t>(prompts.size()));
  const auto found = search(*stepper, inputs, search_options(options));
  std::vector<std::vector<std::int32_t>> best(prompts.size());  // with their prompts
  std::size_t longest = 0;
  for (std::size_t r = 0; r < found.size(); ++r) {
    if (found[r].empty()) throw Error("the model gave no output; its weights may hold NaN");
    for (const Hypothesis& h : found[r]) {
      std::vector<std::int32_t> whole = prompts[r]->ids;
      whole.insert(whole.end(), h.tokens.begin(), h.tokens.end());
      Completion c;
      c.text = tokenizer().decode(whole);
      c.continuation = tokenizer().decode(h.tokens);
      c.score = h.score;
      c.log_probability = h.log_probability;
      for (const std::int32_t id : prompts[r]->ids) c.prompt_tokens.push_back(tokenizer().piece(id));
      for (const std::int32_t id : h.tokens) c.tokens.push_back(tokenizer().piece(id));
      if (h.ended) c.tokens.emplace_back("</s>");
      c.ids = h.tokens;
      if (best[r].empty()) best[r] = std::move(whole);
      results[prompts[r]->number].push_back(std::move(c));
    }
    longest = std::max(longest, best[r].size());
  }
  if (!options.attention) return;
  // The best ones once more, all positions at once, to see every layer and head.
  PaddedTokens fed;
  fed.fill(
      static_cast<std::int64_t>(best.size()),
      Marks::none, [&](std::int64_t r) -> const auto& { return best[static_cast<std::size_t>(r)]; });
  Pass pass;
  pass.top = shown_weights(options.top_weights, static_cast<std::int64_t>(longest));
  const Decoded decoded = lease.model().generator().decode(nullptr, fed.view(), pass, {.self = true});
  for (std::size_t r = 0; r < best.size(); ++r) {
    std::vector<std::string> tokens;
    for (const std::int32_t id : best[r]) tokens.push_back(tokenizer().piece(id));
    take_decoder_maps(decoded, static_cast<std::int64_t>(r), tokens, results[prompts[r]->number][0].maps);
  }
}

AttentionRecord Completion::record() const {
  if (maps.empty()) return {};
  AttentionRecord all;
  all.maps = maps;
  return record_of_kind(all, AttentionKind::decoder);
}

std::vector<double> Completer::score(std::span<const std::string> texts) const {
  return score(std::vector<std::string>(texts.size()), texts);
}

std::vector<double> Completer::score(std::span<const std::string> prompts, std::span<const std::string> texts) const {
  if (prompts.size() != texts.size()) {
    throw UsageError(fmt::format("score: {} prompts and {} texts", prompts.size(), texts.size()));
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
    const ModelCopies<LanguageModel>::Lease lease(loaded_->copies);
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
