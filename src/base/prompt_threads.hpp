// Whether work of a few microseconds is worth splitting now.
#pragma once

namespace fovea {

/// How many threads a parallel_for of some microseconds would have: free_threads(), or 1 for a while after the pool's
/// threads came late, since other programs had their cores. For work whose results do not depend on it; longer work is
/// better off waiting.
[[nodiscard]] int prompt_threads();

}  // namespace fovea
