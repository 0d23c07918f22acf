#include "text/source_reader.hpp"

#include <algorithm>

#include "text/sentences.hpp"

namespace fovea::text {
namespace {

constexpr std::size_t kLongestSentence = 1000;  // characters; what is longer is cut at a comma or a space

}  // namespace

std::int64_t SourceLine::longest_sentence() const {
  if (sentence_ends.empty()) return static_cast<std::int64_t>(ids.size());
  std::int32_t longest = 0;
  std::int32_t before = 0;
  for (const std::int32_t end : sentence_ends) {
    longest = std::max(longest, end - before);
    before = end;
  }
  return longest;
}

SourceReader::SourceReader(std::shared_ptr<const Tokenizer> tokenizer, std::optional<NgramOptions> ngrams,
                           std::optional<SentenceOptions> sentences)
    : tokenizer_(std::move(tokenizer)), sentences_(std::move(sentences)) {
  if (ngrams) ngrams_.emplace(*ngrams);
}

void SourceReader::read(std::string_view line, SourceLine& out) const {
  for (auto* list : {&out.ids, &out.sentence_ends, &out.bag_ids, &out.bag_ends}) list->clear();
  out.pieces.clear();
  if (!sentences_) {
    tokenizer_->encode(line, out.ids, &out.pieces);
    if (ngrams_ && !out.ids.empty()) ngrams_->add(out.ids, out.pieces, out.bag_ids, out.bag_ends);
    return;
  }
  if (sentences_->separator.empty()) {
    for (const Part& part : split_sentences(line, kLongestSentence)) {
      if (part.sentence) read_sentence(part.text, out);
    }
    return;
  }
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(sentences_->separator, begin), line.size());
    read_sentence(line.substr(begin, end - begin), out);
    begin = end + sentences_->separator.size();
  }
}

void SourceReader::read_sentence(std::string_view text, SourceLine& out) const {
  std::vector<std::int32_t> ids;
  std::vector<std::string> pieces;
  tokenizer_->encode(text, ids, &pieces);
  if (ids.empty()) return;
  if (ngrams_) ngrams_->add(ids, pieces, out.bag_ids, out.bag_ends);
  out.ids.insert(out.ids.end(), ids.begin(), ids.end());
  for (std::string& piece : pieces) out.pieces.push_back(std::move(piece));
  out.sentence_ends.push_back(static_cast<std::int32_t>(out.ids.size()));
}

}  // namespace fovea::text
