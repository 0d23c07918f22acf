#include "tasks/training/job/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <variant>
#include <vector>

#include "fovea/error.hpp"

namespace fovea {
namespace {

// A subword occurs often enough to be learned when there are so many characters of text for each; more subwords than
// this many are slow to write and seldom better. Chosen with French words to phonemes (3,600 pairs) and Multi30k
// (29,000), on validation lines.
constexpr std::int64_t kCharactersPerSubword = 250;
constexpr std::int64_t kMostSubwords = 8000;
// An epoch has about so many steps, of at least and at most so many tokens.
constexpr std::int64_t kStepsPerEpoch = 400;
constexpr std::int64_t kLeastBatch = 256;
constexpr std::int64_t kMostBatch = 2048;
// With fewer tokens than this, half of the layers learn as well in half of the time.
constexpr std::int64_t kSmallText = 200'000;
constexpr ModelSize kSmallSize{.layers = 2, .dim = 128, .ffn = 256, .heads = 4};
constexpr ModelSize kUsualSize{.layers = 4, .dim = 128, .ffn = 256, .heads = 4};

struct Characters {
  std::int64_t count = 0;
  std::set<std::string_view> different{};  // UTF-8 sequences
};

Characters characters_of(const std::vector<std::string>& lines) {
  Characters all;
  for (const std::string& line : lines) {
    for (std::size_t at = 0; at < line.size();) {
      std::size_t end = at + 1;
      while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) ++end;
      all.different.insert(std::string_view(line).substr(at, end - at));
      ++all.count;
      at = end;
    }
  }
  return all;
}

bool chooses_vocabulary(const TrainingJob& job) {
  return job.automatic.vocabulary && std::holds_alternative<TextTraining>(job.task) &&
         job.tokenizer == TokenizerKind::sentencepiece && job.tokenizer_model.empty();
}

}  // namespace

ModelSize size_of(const ModelConfig& config) {
  const auto* encoder = std::get_if<TransformerConfig>(&config.encoder);
  if (encoder == nullptr) throw UsageError("automatic", "only a transformer's size is chosen by the text");
  return {encoder->layers, encoder->dim, encoder->ffn, encoder->heads};
}

void set_size(ModelConfig& config, const ModelSize& size) {
  const auto set = [&size](TransformerConfig& part) {
    part.layers = size.layers;
    part.dim = size.dim;
    part.ffn = size.ffn;
    part.heads = size.heads;
  };
  set(std::get<TransformerConfig>(config.encoder));
  config.tokens().embedding = size.dim;
  if (auto* generator = std::get_if<GeneratorConfig>(&config.head)) {
    set(std::get<TransformerConfig>(generator->decoder));
    generator->embedding = size.dim;
  }
}

void check_automatic(const TrainingJob& job) {
  if (!job.automatic.size) return;
  const auto* generator = std::get_if<GeneratorConfig>(&job.config.head);
  const bool decodes = generator == nullptr || std::holds_alternative<TransformerConfig>(generator->decoder);
  if (!decodes || !std::holds_alternative<TransformerConfig>(job.config.encoder)) {
    throw UsageError("automatic", "only a transformer's size is chosen by the text");
  }
}

void choose_vocabulary(TrainingJob& job, const text::ParallelText& text) {
  if (!chooses_vocabulary(job)) return;
  const Characters source = characters_of(text.source);
  const Characters target = characters_of(text.target);
  const std::int64_t by_length = std::max(source.count, target.count) / kCharactersPerSubword;
  const auto different =
      static_cast<std::int64_t>(job.shares_vocab() ? source.different.size() + target.different.size()
                                                   : std::max(source.different.size(), target.different.size()));
  // Every character is a subword too.
  const std::int64_t size = std::max(2 * different, std::min(by_length, kMostSubwords));
  job.vocab = static_cast<int>((size + 99) / 100 * 100);
}

void choose_training(TrainingJob& job, const text::PairsSummary& text) {
  if (!job.automatic.batch_tokens) return;
  const std::int64_t wanted = text.tokens / kStepsPerEpoch;
  std::int64_t batch = kLeastBatch;
  while (batch < kMostBatch && batch * 3 / 2 < wanted) batch *= 2;  // the nearest power of two
  job.options.batch_tokens = std::max(batch, text.longest);
}

void choose_size(TrainingJob& job, const text::PairsSummary& text) {
  if (!job.automatic.size) return;
  set_size(job.config, text.tokens < kSmallText ? kSmallSize : kUsualSize);
}

std::string chosen_settings(const TrainingJob& job, bool resumes) {
  std::vector<std::string> chosen;
  if (job.automatic.size) {
    const ModelSize size = size_of(job.config);
    chosen.push_back(fmt::format("layers {}, dim {}, ffn {}, heads {}", size.layers, size.dim, size.ffn, size.heads));
  }
  if (chooses_vocabulary(job) && !resumes) chosen.push_back(fmt::format("vocab {}", job.vocab));
  if (job.automatic.batch_tokens) chosen.push_back(fmt::format("batch-tokens {}", job.options.batch_tokens));
  if (chosen.empty()) return {};
  return fmt::format("chosen from the corpus size: {}", fmt::join(chosen, ", "));
}

}  // namespace fovea
