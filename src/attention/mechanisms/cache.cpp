#include "fovea/attention/cache.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/error.hpp"

namespace fovea {
namespace {

using Int = std::int64_t;

constexpr Int kFirstRoom = 16;

void check(const char* name, const Tensor& steps, const Tensor& cache) {
  const bool fits = steps.rank() == 3 && (!cache || (steps.dim(0) == cache.dim(0) && steps.dim(2) == cache.dim(2)));
  if (fits) return;
  throw ShapeError(
      cache ? fmt::format("cache: {} {}: expected [{}, n, {}]", name, steps.shape().text(), cache.dim(0), cache.dim(2))
            : fmt::format("cache: {} {}: expected [rows, n, width]", name, steps.shape().text()));
}

// The first `length` steps of the rows `from` (empty: all rows), with room for more.
Tensor copied(const Tensor& cache, Int length, Int room, std::span<const std::int32_t> from) {
  const Int rows = from.empty() ? cache.dim(0) : static_cast<Int>(from.size());
  const Int width = cache.dim(2);
  const Tensor out = Tensor::empty({rows, room, width});
  for (Int r = 0; r < rows; ++r) {
    const Int source = from.empty() ? r : from[static_cast<std::size_t>(r)];
    std::copy_n(cache.data() + source * cache.dim(1) * width, length * width, out.data() + r * room * width);
  }
  return out;
}

void put(const Tensor& steps, const Tensor& cache, Int first) {
  const Tensor in = steps.contiguous();
  const Int count = in.dim(1) * in.dim(2);
  for (Int r = 0; r < in.dim(0); ++r) {
    std::copy_n(in.data() + r * count, count, cache.data() + (r * cache.dim(1) + first) * cache.dim(2));
  }
}

}  // namespace

void KeyValueCache::append(const Tensor& keys, const Tensor& values) {
  check("keys", keys, keys_);
  check("values", values, values_);
  const Int count = keys.dim(1);
  if (values.dim(0) != keys.dim(0) || values.dim(1) != count) {
    throw ShapeError(fmt::format("cache: keys {} and values {} differ in rows or steps", keys.shape().text(),
                                 values.shape().text()));
  }
  if (!keys_) {
    keys_ = Tensor::empty({keys.dim(0), std::max(kFirstRoom, count), keys.dim(2)});
    values_ = Tensor::empty({values.dim(0), keys_.dim(1), values.dim(2)});
  } else if (length_ + count > keys_.dim(1)) {
    const Int room = std::max(length_ + count, 2 * keys_.dim(1));
    keys_ = copied(keys_, length_, room, {});
    values_ = copied(values_, length_, room, {});
  }
  put(keys, keys_, length_);
  put(values, values_, length_);
  length_ += count;
}

void KeyValueCache::keep(std::span<const std::int32_t> rows) {
  if (!keys_) return;
  for (const std::int32_t row : rows) {
    if (row < 0 || row >= keys_.dim(0)) {
      throw UsageError(fmt::format("cache: row {}: expected 0 to {}", row, keys_.dim(0) - 1));
    }
  }
  if (rows.empty()) {
    *this = {};
    return;
  }
  keys_ = copied(keys_, length_, keys_.dim(1), rows);
  values_ = copied(values_, length_, values_.dim(1), rows);
}

void KeyValueCache::rewind(Int length) {
  if (length < 0 || length > length_) {
    throw UsageError(fmt::format("cache: rewind to {}: expected 0 to {}", length, length_));
  }
  length_ = length;
}

Tensor KeyValueCache::keys() const {
  if (!keys_) throw UsageError("cache: it is empty");
  return keys_.slice(1, 0, length_);
}

Tensor KeyValueCache::values() const {
  if (!values_) throw UsageError("cache: it is empty");
  return values_.slice(1, 0, length_);
}

Attended KeyValueCache::attend(const Tensor& query, AttendOptions how) const {
  const NoGrad quiet;
  how.causal = true;
  return fovea::attend(query, keys(), values(), how);
}

}  // namespace fovea
