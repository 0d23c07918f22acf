#include "tasks/classification/text_rows.hpp"

#include <algorithm>

namespace fovea {

text::SourceReader line_reader(const ModelConfig& config, std::shared_ptr<const Tokenizer> tokenizer) {
  std::optional<text::NgramOptions> ngrams;
  if (const auto* c = std::get_if<NgramSourceConfig>(&config.source)) {
    ngrams = {.word_ngrams = c->word_ngrams,
              .char_min = c->char_min,
              .char_max = c->char_max,
              .vocabulary = tokenizer->size(),
              .buckets = c->buckets};
  }
  std::optional<text::SentenceOptions> sentences;
  const auto* head = std::get_if<ClassifierConfig>(&config.head);
  if (head != nullptr && head->pooling == Pooling::hierarchical) sentences = {.separator = head->separator};
  return text::SourceReader(std::move(tokenizer), ngrams, sentences);
}

void TextRows::fill(std::int64_t texts, const std::function<TextSource(std::int64_t)>& text) {
  rows_.clear();
  sentences_.clear();
  bag_ids_.clear();
  bag_ends_.clear();
  bool bags = false;
  for (std::int64_t i = 0; i < texts; ++i) {
    const TextSource one = text(i);
    bags = bags || !one.parts.bag_ends.empty();
    if (one.parts.sentence_ends.empty()) {
      rows_.push_back(one.ids);
      continue;
    }
    std::size_t begin = 0;
    for (const std::int32_t end : one.parts.sentence_ends) {
      rows_.push_back(one.ids.subspan(begin, static_cast<std::size_t>(end) - begin));
      begin = static_cast<std::size_t>(end);
    }
    sentences_.push_back(static_cast<std::int64_t>(one.parts.sentence_ends.size()));
  }
  tokens_.fill(static_cast<std::int64_t>(rows_.size()), Marks::end,
               [&](std::int64_t r) { return rows_[static_cast<std::size_t>(r)]; });
  if (!bags) return;
  // A bag for each place of the padded rows; those of padding are empty.
  const auto width = static_cast<std::size_t>(tokens_.view().length);
  std::size_t row = 0;
  for (std::int64_t i = 0; i < texts; ++i) {
    const text::SourceParts parts = text(i).parts;
    const std::size_t count = std::max<std::size_t>(1, parts.sentence_ends.size());
    const auto base = static_cast<std::int32_t>(bag_ids_.size());
    bag_ids_.insert(bag_ids_.end(), parts.bag_ids.begin(), parts.bag_ids.end());
    std::size_t bag = 0;
    for (std::size_t s = 0; s < count; ++s, ++row) {
      const std::size_t places = rows_[row].size() + 1;
      for (std::size_t t = 0; t < places; ++t) bag_ends_.push_back(base + parts.bag_ends[bag++]);
      for (std::size_t t = places; t < width; ++t) bag_ends_.push_back(bag_ends_.back());
    }
  }
}

TextBatch TextRows::view() const {
  TextBatch batch(tokens_.view());
  batch.bag_ids = bag_ids_;
  batch.bag_ends = bag_ends_;
  batch.sentences = sentences_;
  return batch;
}

}  // namespace fovea
