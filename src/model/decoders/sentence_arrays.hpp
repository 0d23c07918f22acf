// What decoding keeps per sentence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/tensor.hpp"

namespace fovea {

/// Arrays with one entry per sentence of the memory, read by all of the sentence's rows. A sentence whose rows are all
/// gone is dropped. Where the remaining sentences have different numbers of rows, a sentence is repeated for each row.
class SentenceArrays {
 public:
  explicit SentenceArrays(std::span<const std::int64_t> lengths);
  void add(const Tensor& array);  // [sentences, ...]

  void keep(std::span<const std::int32_t> rows);

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(lengths_.size()); }  // divides the rows
  [[nodiscard]] const Tensor& array(std::size_t i) const { return arrays_[i]; }
  [[nodiscard]] std::span<const std::int64_t> lengths() const { return lengths_; }

 private:
  std::vector<Tensor> all_;  // as the memory had them
  std::vector<std::int64_t> all_lengths_;
  std::vector<Tensor> arrays_;  // of the sentences that are left
  std::vector<std::int64_t> lengths_;
  std::vector<std::int32_t> kept_;         // which those are
  std::vector<std::int32_t> sentence_of_;  // row → sentence of the memory
};

/// Rows `from` of an array [n, ...], copied.
[[nodiscard]] Tensor take_rows(const Tensor& array, std::span<const std::int32_t> from);

}  // namespace fovea
