// Lines to validate on, taken out of a text that comes without.
#pragma once

#include <cstdint>

#include "text/corpus.hpp"

namespace fovea::text {

/// Takes about one pair in twenty out of `text`, at most 1,000 and at least one. Which, the seed and the source lines
/// decide: pairs with the same source stay together, so that none that is validated on was trained on. Both texts keep
/// the file's order. Throws UsageError when there are not two different source lines.
[[nodiscard]] ParallelText hold_out(ParallelText& text, std::uint64_t seed);

}  // namespace fovea::text
