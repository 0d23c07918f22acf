// Translator::trace: one line with its beam and its attention maps.
#include "fovea/error.hpp"
#include "fovea/text.hpp"
#include "fovea/translator.hpp"
#include "tasks/translation/encoded_batch.hpp"

namespace fovea {

TranslationTrace Translator::trace(const std::string& line, const TranslateOptions& options) const {
  TranslateOptions how = options;
  how.attention = true;
  how.n_best = 1;
  if (how.kinds.empty() && members_.size() == 1) how.kinds = {AttentionKind::cross};
  check(how);
  const Line read = read_line(line, 0, how);
  if (read.ids.empty()) throw UsageError("attention: the line holds no text");
  check_length(read_length(read), how.first_line);
  const Line* const lines[] = {&read};
  std::vector<std::vector<Translation>> results(1);
  std::vector<BeamTree> trees;
  decode(lines, how, results, &trees);
  TranslationTrace trace;
  trace.translation = std::move(results[0][0]);
  trace.attention = trace.translation.record();
  trace.beam = std::move(trees[0]);
  for (const auto& node : trace.beam.nodes) {
    trace.beam_tokens.push_back(node.step == 0 ? std::string() : piece(read, node.token));
  }
  return trace;
}

}  // namespace fovea
