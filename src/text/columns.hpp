// Pairs of lines from one file with tab-separated columns, as Tatoeba's lists have them.
#pragma once

#include <array>
#include <string>

#include "text/corpus.hpp"

namespace fovea::text {

/// The source and the target of each line of a file, plain or .gz, from two of its columns, counted from 1; {0, 0}: the
/// file has exactly two. White space around a cell is dropped. Throws UsageError for columns that cannot be, FileError
/// naming the line that has too few columns, or more than two when none were chosen.
[[nodiscard]] ParallelText read_columns(const std::string& path, std::array<int, 2> columns = {0, 0});

}  // namespace fovea::text
