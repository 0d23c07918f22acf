#include "tasks/training/text/tokenizers.hpp"

#include <fmt/format.h>

namespace fovea {
namespace {

TokenizerOptions options_of(const TrainingJob& job) {
  return {.kind = job.tokenizer,
          .vocab = job.vocab,
          .min_count = job.min_count,
          .subwords = job.bpe ? TokenizerOptions::Subwords::bpe : TokenizerOptions::Subwords::unigram};
}

void add_vocabulary_note(const char* name, const TokenizerReport& r, std::vector<std::string>& notes) {
  std::string line = fmt::format("{}: {} tokens", name, r.size);
  if (r.left_out > 0) line += fmt::format(", {} left out ({:.2f}% of the text)", r.left_out, 100 * r.unknown_share);
  notes.push_back(line);
}

}  // namespace

std::shared_ptr<const Tokenizer> make_tokenizer(const TrainingJob& job, const std::vector<std::string>& lines,
                                                const char* name, std::vector<std::string>& notes) {
  if (!job.tokenizer_model.empty()) return load_sentencepiece(job.tokenizer_model);
  const auto trained = train_tokenizer(lines, options_of(job));
  add_vocabulary_note(name, trained.report, notes);
  return trained.tokenizer;
}

Tokenizers make_tokenizers(const TrainingJob& job, const text::ParallelText& text, std::vector<std::string>& notes) {
  if (std::holds_alternative<ClassifyTraining>(job.task)) {
    const auto labels = train_tokenizer(text.target, {.kind = TokenizerKind::label, .vocab = 1 << 20});
    notes.push_back(fmt::format("labels: {}", labels.report.size - special_ids));
    return {make_tokenizer(job, text.source, "source vocabulary", notes), labels.tokenizer};
  }
  if (!job.tokenizer_model.empty()) {
    const auto both = load_sentencepiece(job.tokenizer_model);
    return {both, both};
  }
  if (job.shares_vocab()) {
    const auto trained = train_shared_tokenizer(text.source, text.target, options_of(job));
    add_vocabulary_note("shared vocabulary", trained.report, notes);
    return {trained.tokenizer, trained.tokenizer};
  }
  auto source = make_tokenizer(job, text.source, "source vocabulary", notes);
  return {std::move(source), make_tokenizer(job, text.target, "target vocabulary", notes)};
}

}  // namespace fovea
