#include "tasks/training/tokenizers.hpp"

#include <fmt/format.h>

namespace fovea {

Tokenizers make_tokenizers(const TrainingJob& job, const text::ParallelText& text, std::vector<std::string>& notes) {
  if (!job.tokenizer_model.empty() && job.task != Task::classify) {
    const auto both = load_sentencepiece(job.tokenizer_model);
    return {both, both};
  }
  const TokenizerOptions options{
      .kind = job.tokenizer,
      .vocab = job.vocabulary,
      .min_count = job.min_count,
      .subwords = job.bpe ? TokenizerOptions::Subwords::bpe : TokenizerOptions::Subwords::unigram};
  const auto note = [&notes](const char* side, const TokenizerReport& r) {
    std::string line = fmt::format("{} vocabulary: {} tokens", side, r.size);
    if (r.left_out > 0) line += fmt::format(", {} left out ({:.2f}% of the text)", r.left_out, 100 * r.unknown_share);
    notes.push_back(line);
  };
  if (job.task == Task::classify) {
    const auto labels = train_tokenizer(text.target, {.kind = TokenizerKind::label, .vocab = 1 << 20});
    notes.push_back(fmt::format("labels: {}", labels.report.size - special_ids));
    if (!job.tokenizer_model.empty()) return {load_sentencepiece(job.tokenizer_model), labels.tokenizer};
    const auto source = train_tokenizer(text.source, options);
    note("source", source.report);
    return {source.tokenizer, labels.tokenizer};
  }
  if (job.shared_vocabulary) {
    const auto trained = train_shared_tokenizer(text.source, text.target, options);
    note("shared", trained.report);
    return {trained.tokenizer, trained.tokenizer};
  }
  const auto source = train_tokenizer(text.source, options);
  const auto target = train_tokenizer(text.target, options);
  note("source", source.report);
  note("target", target.report);
  return {source.tokenizer, target.tokenizer};
}

}  // namespace fovea
