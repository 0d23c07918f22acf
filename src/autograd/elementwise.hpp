// Splitting elementwise work over the pool.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fovea/threads.hpp"

namespace fovea {

/// Calls body(begin, count) on chunks of [0, size), in parallel when there are several. A chunk is large enough to pay
/// for the hand-over and small enough to stay in the second cache.
template <class Body>
void elementwise(std::int64_t size, Body&& body) {
  constexpr std::int64_t kChunk = 32768;
  parallel_for(size, kChunk,
               [&](std::int64_t begin, std::int64_t end) { body(begin, static_cast<std::size_t>(end - begin)); });
}

}  // namespace fovea
