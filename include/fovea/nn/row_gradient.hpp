// The gradient of a table when each step reads few of its rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/export.hpp"

namespace FOVEA_API fovea {

/// Rows of a gradient: those that were written since clear(), in the order in which they came. All others are zero and
/// cost nothing, neither to clear nor to step over; memory is kept from one step to the next.
class RowGradient {
 public:
  /// Of a table [rows, width].
  RowGradient(std::int64_t rows, std::int64_t width) : count_(rows), width_(width) {}

  /// The gradient of a row, to add to; zeros when nothing was added yet. Good until the next call.
  [[nodiscard]] float* row(std::int32_t number) {
    if (place_.empty()) place_.assign(static_cast<std::size_t>(count_), -1);
    std::int32_t& place = place_[static_cast<std::size_t>(number)];
    if (place < 0) {
      place = static_cast<std::int32_t>(rows_.size());
      rows_.push_back(number);
      const std::size_t end = rows_.size() * static_cast<std::size_t>(width_);
      if (values_.size() < end) values_.resize(end + end / 2);
      float* fresh = values_.data() + (end - static_cast<std::size_t>(width_));
      for (std::int64_t i = 0; i < width_; ++i) fresh[i] = 0;
    }
    return values_.data() + place * width_;
  }
  /// The rows that were written.
  [[nodiscard]] std::span<const std::int32_t> rows() const { return rows_; }
  /// The gradient of rows()[i].
  [[nodiscard]] const float* values(std::size_t i) const {
    return values_.data() + static_cast<std::int64_t>(i) * width_;
  }
  [[nodiscard]] std::int64_t width() const { return width_; }  // of a row
  /// All rows are zero again.
  void clear() {
    for (const std::int32_t row : rows_) place_[static_cast<std::size_t>(row)] = -1;
    rows_.clear();
  }

 private:
  std::int64_t count_, width_;  // of the table
  std::vector<std::int32_t>
      place_;  // of each row of the table: its place in rows_; -1: it has none. Empty until needed
  std::vector<std::int32_t> rows_;
  std::vector<float> values_;  // [rows_.size(), width], and room for more
};

/// A weight that is trained by rows, by its name, and where its gradient is.
struct TrainedRows {
  std::string name;                       // in Parameters
  std::shared_ptr<RowGradient> gradient;  // cleared by the step that uses it
};

}  // namespace fovea
