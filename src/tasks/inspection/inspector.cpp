// Inspector::run and the log-probability of a given output.
#include "fovea/inspector.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "fovea/text.hpp"
#include "tasks/inspection/likeliest.hpp"
#include "tasks/translation/encoded_batch.hpp"

namespace fovea {
Inspector::Inspector(const Translator& translator) : translator_(translator) {
  if (translator.members_.size() != 1) {
    throw UsageError(fmt::format("inspect: it goes with one model, {} are given", translator.members_.size()));
  }
}

bool Inspector::reads_end() const {
  return translator_.config().tokens().end_of_sequence;
}

ModelRun Inspector::run(const std::string& line, const TranslateOptions& options) const {
  TranslateOptions how = options;
  how.n_best = 1;
  how.attention = how.merge_words = false;
  how.kinds.clear();
  const Translation best = translator_.translate(line, how);
  if (best.source_tokens.empty()) throw UsageError("explain: the line holds no text");
  return numbers(line, best.target_ids, how.interventions);
}

ModelRun Inspector::run_given(const std::string& line, const std::string& target,
                              const Interventions& interventions) const {
  interventions.check();
  return numbers(line, translator_.tokenizers().target->encode(target), interventions);
}

ModelRun Inspector::numbers(const std::string& line, const std::vector<std::int32_t>& target,
                            const Interventions& interventions) const {
  const NoGrad quiet;
  TranslateOptions how;
  how.interventions = interventions;
  const Translator::Line read = translator_.read_line(line, 0, how);
  if (read.ids.empty()) throw UsageError("explain: the line holds no text");
  check_explained(std::max(read.ids.size(), target.size()) + 1);
  translator_.check_length(translator_.read_length(read), 0);
  const Tokenizer& tokenizer = *translator_.tokenizers().target;
  ModelRun run;
  run.config = translator_.config();
  run.input = line;
  run.output = tokenizer.decode(target);
  run.target_ids = target;
  Translation t;
  t.source_tokens = read.pieces;
  if (reads_end()) t.source_tokens.emplace_back("</s>");
  for (const std::int32_t id : target) t.target_tokens.push_back(tokenizer.piece(id));
  t.target_tokens.emplace_back("</s>");

  PaddedTokens source;
  PaddedTokens fed;
  source.fill(
      1, reads_end() ? Marks::end : Marks::none, [&](std::int64_t) -> const auto& { return read.ids; });
  fed.fill(
      1, Marks::begin, [&](std::int64_t) -> const auto& { return target; });
  const ModelCopies<Seq2Seq>::Lease lease(translator_.members_[0]->copies);
  const Seq2Seq& model = lease.model();
  Pass pass;
  pass.trace = &run.trace;
  if (!interventions.empty()) pass.interventions = &interventions;
  const Memory memory = model.encode(source.view(), pass, true);
  const Decoded decoded = model.generator().decode(&memory, fed.view(), pass, {.cross = true, .self = true});
  take_maps(memory, decoded, 0, {}, true, t);
  run.source = t.source_tokens;
  run.target = t.target_tokens;
  run.attention = t.record();
  if (run.attention.source.empty()) {  // no cross-attention
    run.attention.source = run.source;
    run.attention.target = run.target;
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
  for (const auto& entry : translator_.members_[0]->parameters.entries()) {
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
  const ModelCopies<Seq2Seq>::Lease lease(translator_.members_[0]->copies);
  Pass pass;
  if (!interventions.empty()) pass.interventions = &interventions;
  const Memory memory = lease.model().encode(read.view(), pass);
  double result = 0;
  lease.model().generator().score(&memory, fed.view(), wanted.view().ids, {&result, 1}, pass.interventions);
  return result;
}

double Inspector::score(const std::string& line, const std::string& target, const Interventions& interventions) const {
  interventions.check();
  TranslateOptions how;
  how.interventions = interventions;
  const Translator::Line read = translator_.read_line(line, 0, how);
  return score(read.ids, translator_.tokenizers().target->encode(target), interventions);
}

}  // namespace fovea
