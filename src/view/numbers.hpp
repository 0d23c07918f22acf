// Numbers as JSON: megabytes of them, so without a tree of values in between.
#pragma once

#include <string>

namespace fovea::view {

/// With four decimals 0.25 as "0.25", 0.00004 as "0", -3.21987 as "-3.2199"; with 0 decimals as few digits as tell the
/// float from its neighbours. What is not finite as "null".
void append_number(std::string& out, float value, int decimals);

}  // namespace fovea::view
