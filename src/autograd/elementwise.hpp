// Splitting the work of simple ops over the pool. Chunks depend on sizes alone, never on the number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fovea/threads.hpp"

namespace fovea {

/// Values per chunk: enough to pay for the hand-over, few enough to stay in the second cache. A multiple of 32, as
/// dropout likes it.
inline constexpr std::int64_t kChunk = 32768;

/// Calls body(begin, count) on chunks of [0, size), in parallel when there are several.
template <class Body>
void elementwise(std::int64_t size, Body&& body) {
  parallel_for(size, kChunk,
               [&](std::int64_t begin, std::int64_t end) { body(begin, static_cast<std::size_t>(end - begin)); });
}

/// How many rows of `width` values make a chunk.
inline std::int64_t rows_per_chunk(std::int64_t width) {
  return std::max<std::int64_t>(1, kChunk / std::max<std::int64_t>(1, width));
}

/// Calls body(first, count) on chunks of [0, rows) rows of `width` values.
template <class Body>
void by_rows(std::int64_t rows, std::int64_t width, Body&& body) {
  parallel_for(rows, rows_per_chunk(width), [&](std::int64_t begin, std::int64_t end) { body(begin, end - begin); });
}

}  // namespace fovea
