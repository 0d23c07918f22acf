// The batches of each epoch of a training whose text is streamed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fovea/train/learner.hpp"
#include "tasks/training/text/streamed_text.hpp"
#include "text/batches.hpp"
#include "text/shard.hpp"

namespace fovea {

/// An epoch goes through the shards in an order that the seed and the epoch decide, as many at a time as a window of
/// memory holds; the pairs of a window are made into batches as those of a whole corpus are. A text that fits in one
/// window has the batches that it has in memory. The text must outlive it.
class StreamedPlan final : public BatchPlan {
 public:
  StreamedPlan(const TrainingJob& job, const StreamedText& text);
  [[nodiscard]] std::int64_t batches(std::int64_t epoch) override;
  void batch(std::int64_t epoch, std::int64_t index, std::vector<std::int64_t>& pairs) override;
  /// The pairs that the last batch numbers.
  [[nodiscard]] const text::Pairs& pairs() const { return window_; }

 private:
  void start(std::int64_t epoch);
  void open(std::int64_t window);

  const TrainingJob& job_;
  const StreamedText& text_;
  std::int64_t epoch_ = -1;
  std::vector<std::vector<std::size_t>> windows_;  // of this epoch: the shards of each
  std::vector<std::int64_t> ends_;                 // batches up to the end of each
  std::int64_t open_ = -1;                         // the window that is mapped
  text::ShardWindow window_;
  std::optional<text::Batches> batches_;
};

}  // namespace fovea
