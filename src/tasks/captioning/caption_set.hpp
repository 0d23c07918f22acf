// The captions of a training, by picture.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/text.hpp"
#include "fovea/train/learner.hpp"
#include "tasks/captioning/picture_store.hpp"
#include "text/corpus.hpp"

namespace fovea {

/// Pictures, each with its captions. Lines of the source that are the same are the same picture; an example is a
/// picture with some of its captions, so that its regions are computed once for all of them.
class CaptionSet final : public Examples {
 public:
  /// The pictures that a text names, in the order of their first line.
  [[nodiscard]] static std::vector<std::string> places(const text::ParallelText& text);

  /// `pictures` are those of the text. Captions without a token or with more than max_length, and those of pictures
  /// that cannot be read, are left out. Throws FileError naming both files when none is left.
  CaptionSet(const text::ParallelText& text, const PictureStore& pictures, const Tokenizer& tokenizer,
             std::int64_t max_length);

  struct Example {
    std::int64_t picture = 0;
    std::int64_t begin = 0, end = 0;  // its captions
  };
  [[nodiscard]] std::int64_t examples() const { return static_cast<std::int64_t>(examples_.size()); }
  [[nodiscard]] const Example& example(std::int64_t i) const { return examples_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::int64_t captions() const { return static_cast<std::int64_t>(begins_.size()) - 1; }
  /// Without <s> and </s>.
  [[nodiscard]] std::span<const std::int32_t> caption(std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    return std::span(ids_).subspan(begins_[at], begins_[at + 1] - begins_[at]);
  }
  /// A picture counts as one token to read.
  [[nodiscard]] ExampleSize size(std::int64_t example) const override;
  /// Counts and warnings for the user, about what was left out.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  /// Of all pictures and captions in their order.
  [[nodiscard]] std::uint64_t hash() const;

 private:
  const PictureStore& pictures_;
  std::vector<std::int32_t> ids_;
  std::vector<std::size_t> begins_{0};
  std::vector<Example> examples_;
  std::vector<std::string> notes_;
};

/// The batches of an epoch: examples in an order that depends on the seed and the epoch alone, together as many target
/// tokens as `batch_tokens`.
class CaptionPlan final : public BatchPlan {
 public:
  CaptionPlan(const CaptionSet& set, std::int64_t batch_tokens, std::uint64_t seed);
  [[nodiscard]] std::int64_t batches(std::int64_t epoch) override;
  void batch(std::int64_t epoch, std::int64_t index, std::vector<std::int64_t>& examples) override;

 private:
  void start(std::int64_t epoch);

  const CaptionSet& set_;
  std::int64_t batch_tokens_;
  std::uint64_t seed_;
  std::int64_t epoch_ = -1;
  std::vector<std::int64_t> order_;
  std::vector<std::size_t> ends_;
};

}  // namespace fovea
