#include "model/copying_rows.hpp"

#include <algorithm>
#include <numeric>

#include "fovea/attention/copying.hpp"
#include "fovea/error.hpp"
#include "kernels/kernels.hpp"
#include "kernels/rows.hpp"

namespace fovea {

CopyingRows::CopyingRows(const Memory& memory, const Tensor& projected, std::int64_t vocabulary)
    : vocabulary_(vocabulary),
      size_(vocabulary),
      length_(memory.states.dim(1)),
      copies_(memory.copies.begin(), memory.copies.end()),
      lengths_(memory.lengths.begin(), memory.lengths.end()),
      projected_(projected.contiguous()),
      sentence_of_(lengths_.size()) {
  if (copies_.size() != lengths_.size() * static_cast<std::size_t>(length_)) {
    throw UsageError("copy", "Tokens::copies of the source is empty");
  }
  for (const std::int32_t id : copies_) size_ = std::max<std::int64_t>(size_, id + 1);
  std::iota(sentence_of_.begin(), sentence_of_.end(), 0);
  mass_.assign(static_cast<std::size_t>(size_), 0.0F);
}

std::span<const std::int32_t> CopyingRows::fed(std::span<const std::int32_t> tokens) {
  fed_.assign(tokens.begin(), tokens.end());
  for (std::int32_t& id : fed_) id = id < vocabulary_ ? id : unk_id;
  return fed_;
}

Tensor CopyingRows::mixed(const Tensor& logits, const Tensor& gate, const Tensor& weights) {
  const std::int64_t rows = logits.dim(0);
  const std::int64_t heads = weights.dim(1);
  const std::int64_t keys = weights.dim(2);
  const Tensor out = Tensor::empty({rows, size_});
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t s = sentence_of_[static_cast<std::size_t>(r)];
    const auto length = static_cast<std::size_t>(lengths_[static_cast<std::size_t>(s)]);
    const std::span attended(weights.data() + r * heads * keys, length);
    const float* values = projected_.data() + s * length_;
    float logit = 0;
    for (std::size_t j = 0; j < length; ++j) logit += attended[j] * values[j];
    float* row = out.data() + r * size_;
    kernels::active().rows->log_softmax(logits.data() + r * vocabulary_, row, 1, vocabulary_);
    mix_copied(gate.data()[r] + logit, attended,
               std::span(copies_).subspan(static_cast<std::size_t>(s * length_), length), vocabulary_,
               std::span(row, static_cast<std::size_t>(size_)), mass_);
  }
  return out;
}

void CopyingRows::keep(std::span<const std::int32_t> rows) {
  std::vector<std::int32_t> sentences;
  sentences.reserve(rows.size());
  for (const std::int32_t r : rows) sentences.push_back(sentence_of_[static_cast<std::size_t>(r)]);
  sentence_of_.swap(sentences);
}

}  // namespace fovea
