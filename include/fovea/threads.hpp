// The one thread pool of the process.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "fovea/export.hpp"

namespace FOVEA_API fovea {

/// How many threads parallel work is split over, the caller's included. At first: all cores.
[[nodiscard]] int threads();

/// Changes it. Throws UsageError unless 1 <= count <= 1024, Error when the system does not give that many. Not while
/// parallel work runs.
void set_threads(int count);

/// How many threads a parallel_for from here would have: threads(), or 1 inside parallel work. For choosing the size of
/// chunks whose results do not depend on it.
[[nodiscard]] int free_threads();

/// The index of the running thread of the pool, 0 to threads() - 1; 0 for every thread that is not of the pool.
[[nodiscard]] int thread_index();

namespace detail {
using ChunkFunction = void (*)(void* context, std::int64_t begin, std::int64_t end);
void parallel_for(std::int64_t count, std::int64_t grain, ChunkFunction function, void* context);
}  // namespace detail

/// Calls body(begin, end) on chunks of at most `grain` items that together cover [0, count) once, on all threads.
/// The chunks do not depend on timing, only their order does; so work whose chunks write to separate places gives
/// the same bytes every time. A call from inside a chunk, or while another thread's work holds the pool, runs serially.
/// The first exception thrown is rethrown.
///
///     parallel_for(rows, 64, [&](std::int64_t begin, std::int64_t end) { ... });
template <class Body>
void parallel_for(std::int64_t count, std::int64_t grain, Body&& body) {
  using B = std::remove_reference_t<Body>;
  detail::parallel_for(
      count, grain,
      [](void* context, std::int64_t begin, std::int64_t end) { (*static_cast<B*>(context))(begin, end); },
      const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

}  // namespace fovea
