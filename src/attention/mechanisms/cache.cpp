#include "fovea/attention/cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "fovea/error.hpp"

namespace fovea {
namespace {

using Int = std::int64_t;

// Writes rows [B, heads, n, d] or [B, n, heads * d] at row `first` of the cache.
void put(const Tensor& rows, const Tensor& cache, Int first, Int count) {
  const Int batch = cache.dim(0), heads = cache.dim(1), room = cache.dim(2), width = cache.dim(3);
  const Tensor packed = rows.contiguous();
  const bool side_by_side = rows.rank() == 3;
  for (Int b = 0; b < batch; ++b) {
    for (Int h = 0; h < heads; ++h) {
      for (Int t = 0; t < count; ++t) {
        const Int from = side_by_side ? ((b * count + t) * heads + h) * width : ((b * heads + h) * count + t) * width;
        std::copy_n(packed.data() + from, width, cache.data() + ((b * heads + h) * room + first + t) * width);
      }
    }
  }
}

Int rows_of(const char* name, const Tensor& rows, const Tensor& cache) {
  const Int batch = cache.dim(0), heads = cache.dim(1), width = cache.dim(3);
  const bool fits = (rows.rank() == 3 && rows.dim(0) == batch && rows.dim(2) == heads * width) ||
                    (rows.rank() == 4 && rows.dim(0) == batch && rows.dim(1) == heads && rows.dim(3) == width);
  if (!fits) {
    throw ShapeError(fmt::format("cache: {} {}: expected [{},{},n,{}] or [{},n,{}]", name, rows.shape().text(), batch,
                                 heads, width, batch, heads * width));
  }
  return rows.dim(rows.rank() - 2);
}

Tensor grown(const Tensor& cache, Int length, Int room) {
  Tensor bigger = Tensor::empty({cache.dim(0), cache.dim(1), room, cache.dim(3)});
  bigger.slice(2, 0, length).copy_from(cache.slice(2, 0, length));
  return bigger;
}

}  // namespace

KeyValueCache::KeyValueCache(Int batch, Int kv_heads, Int key_dim, Int value_dim, Int room)
    : keys_(Tensor::empty({batch, kv_heads, std::max<Int>(1, room), key_dim})),
      values_(Tensor::empty({batch, kv_heads, std::max<Int>(1, room), value_dim > 0 ? value_dim : key_dim})) {}

void KeyValueCache::append(const Tensor& keys, const Tensor& values) {
  const Int count = rows_of("keys", keys, keys_);
  if (rows_of("values", values, values_) != count) {
    throw ShapeError(
        fmt::format("cache: keys {} and values {} differ in steps", keys.shape().text(), values.shape().text()));
  }
  if (length_ + count > keys_.dim(2)) {
    const Int room = std::max(length_ + count, 2 * keys_.dim(2));
    keys_ = grown(keys_, length_, room);
    values_ = grown(values_, length_, room);
  }
  put(keys, keys_, length_, count);
  put(values, values_, length_, count);
  length_ += count;
}

void KeyValueCache::reorder(std::span<const Int> parents) {
  const Int batch = keys_.dim(0);
  if (static_cast<Int>(parents.size()) != batch) {
    throw ShapeError(fmt::format("cache: {} parents for {} sequences", parents.size(), batch));
  }
  for (const Int parent : parents) {
    if (parent < 0 || parent >= batch) {
      throw UsageError(fmt::format("cache: parent {}: expected 0 to {}", parent, batch - 1));
    }
  }
  for (Tensor* cache : {&keys_, &values_}) {
    const Tensor moved = Tensor::empty(cache->shape());
    for (Int b = 0; b < batch; ++b) {
      moved.select(0, b)
          .slice(1, 0, length_)
          .copy_from(cache->select(0, parents[static_cast<std::size_t>(b)]).slice(1, 0, length_));
    }
    *cache = moved;
  }
}

void KeyValueCache::rewind(Int length) {
  if (length < 0 || length > length_) {
    throw UsageError(fmt::format("cache: rewind to {}: expected 0 to {}", length, length_));
  }
  length_ = length;
}

Tensor KeyValueCache::keys() const {
  return keys_.slice(2, 0, length_);
}

Tensor KeyValueCache::values() const {
  return values_.slice(2, 0, length_);
}

Attended KeyValueCache::attend(const Tensor& query, AttendOptions how) const {
  const NoGrad quiet;
  how.causal = true;
  return fovea::attend(query, keys(), values(), how);
}

}  // namespace fovea
