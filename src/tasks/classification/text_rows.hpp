// Texts padded to the arrays that a classifier reads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "fovea/model/folder.hpp"
#include "fovea/model/text_classifier.hpp"
#include "fovea/text/tokens.hpp"
#include "text/source_reader.hpp"

namespace fovea {

/// How the lines of a classifier are read.
[[nodiscard]] text::SourceReader line_reader(const ModelConfig& config, std::shared_ptr<const Tokenizer> tokenizer);

/// A text: its tokens without the end of sequence, and what else was read of it.
struct TextSource {
  std::span<const std::int32_t> ids{};
  text::SourceParts parts{};
};

/// The arrays of a batch; their memory is kept from one filling to the next. A text of several sentences has a row for
/// each, with an end of sequence of its own.
class TextRows {
 public:
  /// `text(i)` gives a text; the spans are read at once.
  void fill(std::int64_t texts, const std::function<TextSource(std::int64_t)>& text);
  /// The batch; good until the next fill().
  [[nodiscard]] TextBatch view() const;

 private:
  PaddedTokens tokens_;
  std::vector<std::span<const std::int32_t>> rows_;
  std::vector<std::int32_t> bag_ids_, bag_ends_;
  std::vector<std::int64_t> sentences_;
};

}  // namespace fovea
