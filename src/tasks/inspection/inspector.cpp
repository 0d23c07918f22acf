// Inspector::run and the log-probability of a given output.
#include "fovea/inspector.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "fovea/text.hpp"
#include "tasks/inspection/likeliest.hpp"
#include "tasks/translation/loaded_translator.hpp"

namespace fovea {
Inspector::Inspector(const Translator& translator) : translator_(translator) {
  if (translator.loaded_->members.size() != 1) {
    throw UsageError(fmt::format("inspect: it goes with one model, {} are given", translator.loaded_->members.size()));
  }
}

bool Inspector::reads_end() const {
  return translator_.loaded_->reads_end();
}

ModelRun Inspector::run(const std::string& line, const GenerateOptions& options) const {
  GenerateOptions how = options;
  how.n_best = 1;
  how.attention = how.merge_words = false;
  how.kinds.clear();
  const Generated best = translator_.translate(line, how);
  if (best.attention.source.empty()) throw UsageError("explain: the line holds no text");
  return numbers(line, best.ids, how.interventions);
}

ModelRun Inspector::run_given(const std::string& line, const std::string& target,
                              const Interventions& interventions) const {
  interventions.check();
  return numbers(line, translator_.tokenizers().target->encode(target), interventions);
}

ModelRun Inspector::numbers(const std::string& line, const std::vector<std::int32_t>& target,
                            const Interventions& interventions) const {
  const NoGrad quiet;
  const GenerationInput read = translator_.loaded_->read_line(line, 0, interventions);
  if (read.ids.empty()) throw UsageError("explain: the line holds no text");
  check_explained(std::max(read.ids.size(), target.size()) + 1);
  translator_.loaded_->check_length(read.length, 0);
  const Tokenizer& tokenizer = *translator_.tokenizers().target;
  ModelRun run;
  run.config = translator_.config();
  run.input = line;
  run.output = tokenizer.decode(target);
  run.target_ids = target;
  run.source = read.pieces;
  for (const std::int32_t id : target) run.target.push_back(tokenizer.piece(id));
  run.target.emplace_back("</s>");

  PaddedTokens source;
  PaddedTokens fed;
  source.fill(
      1, reads_end() ? Marks::end : Marks::none, [&](std::int64_t) -> const auto& { return read.ids; });
  fed.fill(
      1, Marks::begin, [&](std::int64_t) -> const auto& { return target; });
  const ModelCopies<Seq2Seq>::Lease lease(translator_.loaded_->members[0]->copies);
  const Seq2Seq& model = lease.model();
  Pass pass;
  pass.trace = &run.trace;
  if (!interventions.empty()) pass.interventions = &interventions;
  const Memory memory = model.encode(source.view(), pass, true);
  const Decoded decoded = model.generator().decode(&memory, fed.view(), pass, {.cross = true, .self = true});
  run.attention.source = run.source;
  run.attention.target = run.target;
  take_maps(&memory, decoded, 0, run.attention);
  take_mean(AttentionKind::cross, decoded, 0, {}, run.attention);
  if (!run.attention.has_weights()) {  // no cross-attention
    run.attention.weights = {static_cast<std::int64_t>(run.target.size()), static_cast<std::int64_t>(run.source.size()),
                             std::vector<float>(run.target.size() * run.source.size(), 0.0F)};
  }
  const Tensor logits = model.generator().logits(decoded.states.value());
  run.trace.add("output.logits", logits);
  const Tensor log_probabilities = log_softmax(logits).value().contiguous();
  for (std::size_t i = 0; i < run.target.size(); ++i) {
    run.next.push_back(likeliest(log_probabilities.data() + static_cast<std::int64_t>(i) * logits.dim(2), logits.dim(2),
                                 i < target.size() ? target[i] : eos_id, tokenizer));
  }
  for (const auto& entry : translator_.loaded_->members[0]->parameters.entries()) {
    run.weights.push_back({entry.name, entry.values()});
  }
  return run;
}

double Inspector::score(const std::vector<std::int32_t>& source, const std::vector<std::int32_t>& target,
                        const Interventions& interventions) const {
  const NoGrad quiet;
  PaddedTokens read;
  PaddedTokens fed;
  PaddedTokens wanted;
  read.fill(
      1, reads_end() ? Marks::end : Marks::none, [&](std::int64_t) -> const auto& { return source; });
  fed.fill(
      1, Marks::begin, [&](std::int64_t) -> const auto& { return target; });
  wanted.fill(
      1, Marks::end, [&](std::int64_t) -> const auto& { return target; });
  const ModelCopies<Seq2Seq>::Lease lease(translator_.loaded_->members[0]->copies);
  Pass pass;
  if (!interventions.empty()) pass.interventions = &interventions;
  const Memory memory = lease.model().encode(read.view(), pass);
  double result = 0;
  lease.model().generator().score(&memory, fed.view(), wanted.view().ids, {&result, 1}, pass.interventions);
  return result;
}

double Inspector::score(const std::string& line, const std::string& target, const Interventions& interventions) const {
  interventions.check();
  const GenerationInput read = translator_.loaded_->read_line(line, 0, interventions);
  return score(read.ids, translator_.tokenizers().target->encode(target), interventions);
}

}  // namespace fovea
