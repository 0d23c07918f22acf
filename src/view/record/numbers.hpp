// Numbers as JSON text, written directly: there may be megabytes of them.
#pragma once

#include <string>

namespace fovea::view {

/// With four decimals 0.25 as "0.25", 0.00004 as "0", -3.21987 as "-3.2199"; with 0 decimals the shortest digits that
/// give the same float. Infinity and NaN as "null".
void append_number(std::string& out, float value, int decimals);

}  // namespace fovea::view
