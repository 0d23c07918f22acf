// Completer::run: a continuation with every number on the way.
#include <fmt/format.h>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "fovea/text.hpp"
#include "tasks/completion/loaded_completer.hpp"
#include "tasks/generation/options.hpp"
#include "tasks/inspection/likeliest.hpp"

namespace fovea {

ModelRun Completer::run(const std::string& text, const GenerateOptions& options) const {
  const NoGrad quiet;
  GenerateOptions how = completion_options(options);
  how.n_best = 1;
  how.attention = false;
  std::vector<std::int32_t> ids = tokenizer().encode(text);
  if (ids.empty()) throw UsageError("explain: the line holds no text");
  check_explained(ids.size() + static_cast<std::size_t>(*how.max_length));
  const Generated best = complete(text, how);
  ids.insert(ids.end(), best.ids.begin(), best.ids.end());
  ModelRun run;
  run.config = config();
  run.input = text;
  run.output = best.text;
  run.target_ids = best.ids;
  std::vector<std::string> fed;
  for (const std::int32_t id : ids) fed.push_back(tokenizer().piece(id));
  run.target.assign(fed.begin() + 1, fed.end());  // what each position is followed by
  run.target.emplace_back("</s>");

  PaddedTokens tokens;
  tokens.fill(
      1, Marks::none, [&](std::int64_t) -> const auto& { return ids; });
  const ModelCopies<LanguageModel>::Lease lease(loaded_->model->copies);
  const Generator& generator = lease.model().generator();
  Pass pass;
  pass.trace = &run.trace;
  const Decoded decoded = generator.decode(nullptr, tokens.view(), pass, {.self = true});
  AttentionRecord maps;
  maps.source = maps.target = fed;
  take_maps(nullptr, decoded, 0, maps);
  run.attention = maps.maps.empty() ? AttentionRecord{} : record_of_kind(maps, AttentionKind::decoder);
  const Tensor logits = generator.logits(decoded.states.value());
  run.trace.add("output.logits", logits);
  const Tensor log_probabilities = log_softmax(logits).value().contiguous();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    run.next.push_back(likeliest(log_probabilities.data() + static_cast<std::int64_t>(i) * logits.dim(2), logits.dim(2),
                                 i + 1 < ids.size() ? ids[i + 1] : eos_id, tokenizer()));
  }
  for (const auto& entry : loaded_->model->parameters.entries()) {
    run.weights.push_back({entry.name, entry.values()});
  }
  return run;
}

}  // namespace fovea
