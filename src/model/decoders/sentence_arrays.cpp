#include "model/decoders/sentence_arrays.hpp"

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

SentenceArrays::SentenceArrays(std::span<const std::int64_t> lengths)
    : all_lengths_(lengths.begin(), lengths.end()), lengths_(all_lengths_) {
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
