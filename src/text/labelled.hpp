// Texts with labels, as fastText's files have them.
#pragma once

#include <string>

#include "text/corpus.hpp"

namespace fovea::text {

/// A file of lines "__label__X the text", plain or .gz: texts as the source, labels as the target. Throws FileError
/// naming the line that has no label, or more than one.
[[nodiscard]] ParallelText read_labelled(const std::string& path);

}  // namespace fovea::text
