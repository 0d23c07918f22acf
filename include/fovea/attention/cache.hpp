// Attention one step at a time.
#pragma once

#include <cstdint>
#include <span>

#include "fovea/attention/attend.hpp"

namespace fovea {

/// The keys and values a decoder has seen so far, grown step by step: [B, kv_heads, room, d], of which the first
/// length() rows are filled. No gradients: training sees whole sequences at once.
///
///     KeyValueCache cache(batch, kv_heads, dim);
///     cache.append(k, v);                        // [B, kv_heads, n, dim], or [B, n, kv_heads * dim]
///     const Attended now = cache.attend(q);      // the last query of q stands at the last key
class KeyValueCache {
 public:
  KeyValueCache(std::int64_t batch, std::int64_t kv_heads, std::int64_t key_dim, std::int64_t value_dim = 0,
                std::int64_t room = 64);

  [[nodiscard]] std::int64_t length() const { return length_; }
  [[nodiscard]] std::int64_t batch() const { return keys_.dim(0); }
  /// Adds rows behind those there are; the memory doubles when it is full.
  void append(const Tensor& keys, const Tensor& values);
  /// Sequence b becomes what sequence parents[b] was: for the survivors of a beam.
  void reorder(std::span<const std::int64_t> parents);
  /// Forgets all but the first `length` steps.
  void rewind(std::int64_t length);

  [[nodiscard]] Tensor keys() const;    // [B, kv_heads, length, key_dim], a view
  [[nodiscard]] Tensor values() const;  // [B, kv_heads, length, value_dim], a view

  /// query [B, heads, n, key_dim], or [B, n, heads * key_dim] with how.heads; causal over what was appended: the n
  /// queries belong to the last n keys.
  [[nodiscard]] Attended attend(const Tensor& query, AttendOptions how = {}) const;

 private:
  Tensor keys_, values_;
  std::int64_t length_ = 0;
};

}  // namespace fovea
