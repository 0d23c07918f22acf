// What decoding keeps per hypothesis and per sentence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/tensor.hpp"
#include "model/encoder.hpp"

namespace fovea {

/// An array [rows, steps, width] that grows by a step at a time and whose rows can be chosen anew.
class RowCache {
 public:
  /// Appends [rows, 1, width] or [rows, width]; gives all steps so far as a view [rows, steps, width].
  Tensor append(const Tensor& step);
  void keep(std::span<const std::int32_t> rows);

 private:
  void reserve(std::int64_t rows, std::int64_t steps, std::int64_t width, std::span<const std::int32_t> from);

  Tensor data_;  // [rows, capacity, width]
  std::int64_t steps_ = 0;
};

/// Arrays with one entry per sentence of the memory, read by all of the sentence's rows. A sentence whose rows are all
/// gone is dropped. Where the remaining sentences have different numbers of rows, a sentence is repeated for each row.
class SentenceArrays {
 public:
  explicit SentenceArrays(const Memory& memory);
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
