#include "tasks/generation/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "fovea/decode/ensemble.hpp"
#include "fovea/error.hpp"
#include "tasks/generation/batches.hpp"
#include "tasks/generation/options.hpp"

namespace fovea {
namespace {

constexpr int kBatchTokens = 1024;  // of inputs that one thread decodes together

using Outputs = std::vector<std::vector<Generated>>;

// One batch on its way: what was asked for and what was found so far.
class BatchRun {
 public:
  BatchRun(const GenerationTask& task, std::span<const GenerationInput* const> inputs, const GenerateOptions& options,
           const GenerateCall& call)
      : task_(task),
        inputs_(inputs),
        options_(options),
        call_(call),
        which_{options.layer, options.head},
        maps_(options, longest_input()),
        batch_(task.read({inputs, maps_, options.interventions.empty() ? nullptr : &options.interventions})),
        memory_(batch_->memory(first())) {
    if (memory_ != nullptr) return;
    // A language model's attention is its decoder's own, which a search does not give.
    keep_maps_ = maps_.decoder;
    maps_.decoder = maps_.decoder || options.attention;
    maps_.cross = maps_.encoder = false;
  }

  void search_outputs(std::vector<BeamTree>* trees) {
    GenerateOptions how = options_;
    how.attention = options_.attention || options_.replace_unknown;
    // The maps have it too.
    if (maps_.cross && !options_.replace_unknown && options_.n_best == 1) how.attention = false;
    if (memory_ == nullptr) how.attention = false;
    std::vector<SearchInput> inputs;
    for (const GenerationInput* input : inputs_) {
      SearchInput one{.line = static_cast<std::uint64_t>(call_.first_line) + input->number};
      if (memory_ == nullptr) {
        one.prompt = input->ids;
      } else {
        one.source_length = static_cast<std::int64_t>(input->pieces.size());
      }
      inputs.push_back(one);
    }
    const auto stepper = start(how.attention || how.coverage_penalty > 0);
    found_ = search(*stepper, inputs, how, task_.rules(), trees);
    for (const auto& of_input : found_) {
      if (of_input.empty()) throw Error("the model gave no output; its weights may hold NaN");
    }
  }

  void write(Outputs& results) {
    for (std::size_t n = 0; n < static_cast<std::size_t>(options_.n_best); ++n) {
      std::vector<std::vector<float>> copied(found_.size());
      if (options_.attention && first().generator->copies()) copied = copied_shares(n);
      for (std::size_t r = 0; r < found_.size(); ++r) {
        if (n >= found_[r].size()) continue;
        Generated& output = outputs_of(r, results).emplace_back();
        const Hypothesis& h = found_[r][n];
        output.score = h.score;
        output.log_probability = h.log_probability;
        output.ids = h.tokens;
        output.ended = h.ended;
        output.attention.copied = std::move(copied[r]);
        task_.write(*inputs_[r], h, options_, output);
        take_weights(found_[r][n], output);
      }
    }
  }

  // The best outputs once more, all positions at once, to get every layer and head.
  void add_maps(Outputs& results) {
    if (!maps_.any()) return;
    const auto rows = static_cast<std::int64_t>(inputs_.size());
    std::vector<std::vector<std::int32_t>> texts(inputs_.size());
    std::size_t longest = 0;
    for (std::size_t r = 0; r < texts.size(); ++r) {
      if (memory_ == nullptr) texts[r] = inputs_[r]->ids;
      texts[r].insert(texts[r].end(), found_[r][0].tokens.begin(), found_[r][0].tokens.end());
      longest = std::max(longest, texts[r].size());
    }
    if (memory_ == nullptr) maps_.top = shown_weights(options_, static_cast<std::int64_t>(longest));
    PaddedTokens target;
    target.fill(
        rows, memory_ == nullptr ? Marks::none : Marks::begin, [&](std::int64_t r) -> const auto& {
          return texts[static_cast<std::size_t>(r)];
        });
    const Generator& generator = *first().generator;
    if (generator.copies()) target.cut_ids(task_.config().generator().vocabulary);
    if (call_.before_maps) {
      call_.before_maps(weights_of(memory_, task_.config(), maps_, rows, longest_input(), target.view().length));
    }
    Pass pass = new_pass();
    pass.top = maps_.top;
    const Decoded decoded =
        generator.decode(memory_, target.view(), pass, {.cross = maps_.cross, .self = maps_.decoder});
    for (std::size_t r = 0; r < texts.size(); ++r) {
      AttentionRecord& record = outputs_of(r, results)[0].attention;
      const auto row = static_cast<std::int64_t>(r);
      take_maps(memory_, decoded, row, record);
      if (memory_ == nullptr) {
        if (options_.attention) take_mean(AttentionKind::decoder, decoded, row, which_, record);
        if (!keep_maps_) record.maps.clear();
      } else if (options_.attention && maps_.cross) {
        take_mean(AttentionKind::cross, decoded, row, which_, record);
      }
    }
  }

  void finish(Outputs& results) const {
    for (std::size_t r = 0; r < inputs_.size(); ++r) {
      for (Generated& output : outputs_of(r, results)) {
        const AttentionRecord& record = output.attention;
        if (options_.merge_words && (record.has_weights() || !record.maps.empty())) {
          merge_words(output.attention, task_.tokenizers());
        }
        output.copied = record.copied;
      }
    }
  }

 private:
  [[nodiscard]] const ReadBatch::Member& first() const { return batch_->members.front(); }
  [[nodiscard]] std::vector<Generated>& outputs_of(std::size_t r, Outputs& results) const {
    return results[inputs_[r]->number];
  }
  [[nodiscard]] std::int64_t longest_input() const {
    std::int64_t longest = 0;
    for (const GenerationInput* input : inputs_) {
      longest = std::max(longest, static_cast<std::int64_t>(input->pieces.size()));
    }
    return longest;
  }
  [[nodiscard]] Pass new_pass() const {
    Pass pass;
    if (!options_.interventions.empty()) pass.interventions = &options_.interventions;
    return pass;
  }

  // All models at the start of an output.
  [[nodiscard]] std::unique_ptr<Stepper> start(bool want_attention) const {
    const auto rows = static_cast<std::int64_t>(inputs_.size());
    std::vector<std::unique_ptr<Stepper>> steppers;
    for (const ReadBatch::Member& member : batch_->members) {
      steppers.push_back(member.generator->start(batch_->memory(member), rows, want_attention, which_,
                                                 options_.interventions.empty() ? nullptr : &options_.interventions));
    }
    std::unique_ptr<Stepper> all = std::move(steppers[0]);
    if (steppers.size() > 1) {
      steppers[0] = std::move(all);
      all = std::make_unique<EnsembleStepper>(std::move(steppers));
    }
    if (!batch_->shortlist.empty()) all->restrict_to(batch_->shortlist);
    return all;
  }

  // Of models that copy: the share of copying in each token, ends included, of the n-th outputs; the mean over models.
  [[nodiscard]] std::vector<std::vector<float>> copied_shares(std::size_t n) const {
    PaddedTokens target, wanted;
    const auto output = [&](std::int64_t r) {
      const auto& of_input = found_[static_cast<std::size_t>(r)];
      return n < of_input.size() ? std::span<const std::int32_t>(of_input[n].tokens) : std::span<const std::int32_t>();
    };
    const auto rows = static_cast<std::int64_t>(inputs_.size());
    target.fill(rows, Marks::begin, output);
    target.cut_ids(task_.config().generator().vocabulary);
    wanted.fill(rows, Marks::end, output);
    const Tokens all = wanted.view();
    const auto share = static_cast<float>(batch_->members.size());
    std::vector<float> part(all.ids.size()), sum(all.ids.size());
    for (const ReadBatch::Member& member : batch_->members) {
      member.generator->copied(*member.memory, target.view(), all.ids, part, new_pass().interventions);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i] / share;
    }
    std::vector<std::vector<float>> out;
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto from = sum.begin() + r * all.length;
      out.emplace_back(from, from + all.lengths[static_cast<std::size_t>(r)]);
    }
    return out;
  }

  // Moves the weights that a search found to the output, without another copy.
  void take_weights(Hypothesis& h, Generated& output) const {
    if (h.attention.empty()) return;
    AttentionRecord& record = output.attention;
    AttentionMatrix weights{static_cast<std::int64_t>(record.target.size()),
                            static_cast<std::int64_t>(record.source.size()), std::move(h.attention)};
    if (!options_.attention) return;
    make_rows_sum_to_one(weights);
    record.weights = std::move(weights);
  }

  const GenerationTask& task_;
  const std::span<const GenerationInput* const> inputs_;
  const GenerateOptions& options_;
  const GenerateCall& call_;
  const AttentionChoice which_;
  MapRequest maps_;
  const std::unique_ptr<const ReadBatch> batch_;
  const Memory* const memory_;  // the first model's; null in a language model
  bool keep_maps_ = true;       // false: only their mean was asked for
  std::vector<std::vector<Hypothesis>> found_;
};

}  // namespace

SearchRules GenerationTask::rules() const {
  SearchRules rules;
  rules.longest = std::max<std::int64_t>(0, config().longest_target() - 1);  // the end of sequence needs a position too
  const auto& never = config().generator().suppressed;
  rules.suppressed.insert(rules.suppressed.end(), never.begin(), never.end());
  return rules;
}

void check_options(const GenerationTask& task, const GenerateOptions& options) {
  check_task_options(task.config().task(), options);
  check_search(options);
  options.interventions.check();
  const auto at_least_one = [](const char* field, const std::optional<int>& given) {
    if (given && *given < 1) throw UsageError(field, fmt::format("must be at least 1, is {}", *given));
  };
  at_least_one("top_weights", options.top_weights);
  at_least_one("batch_tokens", options.batch_tokens);
  const auto within = [](const char* field, const std::optional<int>& given, int count) {
    if (given && (*given < 0 || *given >= std::max(1, count))) {
      throw UsageError(field, fmt::format("{1} given, the decoder has {0}s 0 to {2}", field, *given, count - 1));
    }
  };
  const AttentionSize size(task.config());
  within("layer", options.layer, size.layers);
  within("head", options.head, size.heads);
}

Outputs generate(const GenerationTask& task, std::span<const GenerationInput> inputs, const GenerateOptions& options,
                 const GenerateCall& call, std::vector<BeamTree>* trees) {
  Outputs results(inputs.size());
  std::vector<const GenerationInput*> order;
  for (const GenerationInput& input : inputs) {
    if (input.length > 0) {
      order.push_back(&input);
    } else {
      results[input.number].resize(static_cast<std::size_t>(options.n_best));
      for (Generated& output : results[input.number]) output.error = input.error;
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const GenerationInput* a, const GenerationInput* b) { return a->length > b->length; });
  std::vector<std::int64_t> lengths;
  for (const GenerationInput* input : order) lengths.push_back(input->length);
  // Positions of interventions are a line's own: each is a batch by itself.
  const std::int64_t tokens = options.interventions.empty() ? options.batch_tokens.value_or(kBatchTokens) : 1;
  std::atomic<bool> stopped = false;
  decode_in_batches(lengths, {.tokens = tokens, .beam = options.beam}, [&](std::size_t begin, std::size_t end) {
    if (!stopped && call.stop && call.stop()) stopped = true;
    if (stopped) return;
    const NoGrad quiet;
    BatchRun run(task, std::span(order).subspan(begin, end - begin), options, call);
    run.search_outputs(trees);
    run.write(results);
    run.add_maps(results);
    run.finish(results);
  });
  return results;
}

}  // namespace fovea
