#include "model/row_cache.hpp"

#include <algorithm>
#include <numeric>

namespace fovea {

Tensor take_rows(const Tensor& array, std::span<const std::int32_t> from) {
  const Tensor in = array.contiguous();
  Shape shape = in.shape();
  shape.set(0, static_cast<std::int64_t>(from.size()));
  Tensor out = Tensor::empty(shape);
  const std::int64_t width = in.dim(0) > 0 ? in.size() / in.dim(0) : 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::copy_n(in.data() + from[i] * width, width, out.data() + static_cast<std::int64_t>(i) * width);
  }
  return out;
}

void RowCache::reserve(std::int64_t rows, std::int64_t steps, std::int64_t width, std::span<const std::int32_t> from) {
  const Tensor grown = Tensor::empty({rows, steps, width});
  for (std::int64_t r = 0; r < rows && steps_ > 0; ++r) {
    const std::int64_t source = from.empty() ? r : from[static_cast<std::size_t>(r)];
    std::copy_n(data_.data() + source * data_.dim(1) * width, steps_ * width, grown.data() + r * steps * width);
  }
  data_ = grown;
}

Tensor RowCache::append(const Tensor& step) {
  const std::int64_t rows = step.dim(0);
  const std::int64_t width = step.dim(-1);
  if (!data_) {
    reserve(rows, 16, width, {});
  } else if (steps_ == data_.dim(1)) {
    reserve(rows, 2 * steps_, width, {});
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    std::copy_n(step.data() + r * width, width, data_.data() + (r * data_.dim(1) + steps_) * width);
  }
  ++steps_;
  return data_.slice(1, 0, steps_);
}

void RowCache::keep(std::span<const std::int32_t> rows) {
  if (data_) reserve(static_cast<std::int64_t>(rows.size()), data_.dim(1), data_.dim(2), rows);
}

SentenceArrays::SentenceArrays(const Memory& memory)
    : all_lengths_(memory.lengths.begin(), memory.lengths.end()), lengths_(all_lengths_) {
  sentence_of_.resize(lengths_.size());
  std::iota(sentence_of_.begin(), sentence_of_.end(), 0);
  kept_ = sentence_of_;
}

void SentenceArrays::add(const Tensor& array) {
  all_.push_back(array);
  arrays_.push_back(array);
}

void SentenceArrays::keep(std::span<const std::int32_t> rows) {
  std::vector<std::int32_t> sentences(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) sentences[i] = sentence_of_[static_cast<std::size_t>(rows[i])];
  sentence_of_ = sentences;
  std::vector<std::int32_t> distinct;
  bool even = true;
  std::size_t run = 0;
  std::size_t first_run = 0;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    ++run;
    if (i + 1 < sentences.size() && sentences[i + 1] == sentences[i]) continue;
    distinct.push_back(sentences[i]);
    if (first_run == 0) first_run = run;
    even = even && run == first_run;
    run = 0;
  }
  const auto& wanted = even ? distinct : sentences;
  if (wanted == kept_) return;
  kept_ = wanted;
  lengths_.clear();
  for (const std::int32_t s : kept_) lengths_.push_back(all_lengths_[static_cast<std::size_t>(s)]);
  for (std::size_t i = 0; i < all_.size(); ++i) arrays_[i] = take_rows(all_[i], kept_);
}

}  // namespace fovea
