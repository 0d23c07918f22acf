// Attention one step at a time.
#pragma once

#include <cstdint>
#include <span>

#include "fovea/attention/attend.hpp"

namespace FOVEA_API fovea {

/// The keys and values of the steps so far, grown step by step: heads side by side, [rows, steps, width]. A row is a
/// sequence, or a hypothesis of a beam. No gradients: training has whole sequences at once.
///
///     KeyValueCache cache;
///     cache.append(k, v);                               // [rows, n, kv_heads * d] each
///     const Attended now = cache.attend(q, {.heads = 8});  // the last query of q has the position of the last key
///     cache.keep(best);                                 // row i goes on as row best[i]
class KeyValueCache {
 public:
  /// Sequences or hypotheses.
  [[nodiscard]] std::int64_t rows() const { return keys_ ? keys_.dim(0) : 0; }
  [[nodiscard]] std::int64_t length() const { return length_; }  // steps
  /// Adds steps behind those there are; the memory doubles when it is full. Throws ShapeError when rows, steps or
  /// widths do not fit.
  void append(const Tensor& keys, const Tensor& values);
  /// Row i becomes what row rows[i] was; the number of rows becomes rows.size(). Throws UsageError for a row that is
  /// not there.
  void keep(std::span<const std::int32_t> rows);
  /// Forgets all but the first `length` steps.
  void rewind(std::int64_t length);

  [[nodiscard]] Tensor keys() const;    // [rows, length, width], a view
  [[nodiscard]] Tensor values() const;  // [rows, length, width of the values], a view

  /// query [rows, n, heads * d] with how.heads (and how.kv_heads); causal: the n queries belong to the last n keys.
  [[nodiscard]] Attended attend(const Tensor& query, AttendOptions how = {}) const;

 private:
  Tensor keys_, values_;  // [rows, room, width]
  std::int64_t length_ = 0;
};

}  // namespace fovea
