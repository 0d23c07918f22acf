#include "attention/modifiers.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace fovea::attention {

Modifiers::Modifiers(ScoreModifiers list, std::int64_t offset)
    : list_(std::move(list)), first_(list_.size() + 1, 0), offset_(offset) {
  for (std::size_t n = 0; n < list_.size(); ++n) first_[n + 1] = first_[n] + list_[n]->parameters().size();
}

void Modifiers::use(kernels::ScoreChange& change, const Task& task) {
  if (task.all == nullptr || !*task.all) return;
  change.modifiers = &task;
  change.modify = modify;
  change.modify_backward = modify_backward;
}

void Modifiers::rethrow() const {
  if (failed_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Modifiers::keep(std::exception_ptr error) const {
  if (!failed_.exchange(true)) error_ = std::move(error);
}

ScoreTile Modifiers::tile_of(const kernels::ScoreTile& t, float* scores) const {
  return {t.batch, t.head, t.query0, t.key0, t.queries, t.keys, offset_, t.query_stride, t.key_stride, scores};
}

void Modifiers::modify(const void* task, const kernels::ScoreTile& tile, float* scores) {
  const Modifiers& all = *static_cast<const Task*>(task)->all;
  try {
    for (const auto& one : all.list_) one->apply(all.tile_of(tile, scores));
  } catch (...) {
    all.keep(std::current_exception());
  }
}

void Modifiers::modify_backward(const void* task, const kernels::ScoreTile& tile, const float* before,
                                float* gradient) {
  const Task& work = *static_cast<const Task*>(task);
  const Modifiers& all = *work.all;
  const std::size_t count = all.list_.size();
  // The last pair of the tile is at the end of what its strides span.
  const auto floats =
      static_cast<std::size_t>((tile.queries - 1) * tile.query_stride + (tile.keys - 1) * tile.key_stride + 1);
  try {
    // What each modifier was given: the first the scores, each other one what the one before it made.
    thread_local std::vector<float> given;
    given.resize(count * floats);
    std::copy_n(before, floats, given.begin());
    for (std::size_t n = 1; n < count; ++n) {
      float* to = given.data() + n * floats;
      std::copy_n(to - floats, floats, to);
      all.list_[n - 1]->apply(all.tile_of(tile, to));
    }
    for (std::size_t n = count; n-- > 0;) {
      const std::span<float* const> gradients =
          work.gradients == nullptr
              ? std::span<float* const>{}
              : std::span<float* const>(work.gradients + all.first_[n], all.first_[n + 1] - all.first_[n]);
      all.list_[n]->backward(all.tile_of(tile, given.data() + n * floats), all.tile_of(tile, gradient), gradients);
    }
  } catch (...) {
    all.keep(std::current_exception());
  }
}

}  // namespace fovea::attention
