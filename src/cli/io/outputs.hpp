// Files that a command writes.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

namespace fovea::cli {

/// Throws UsageError when two options name the same file: one would take the other's place. Devices may be shared.
void check_outputs_differ(std::initializer_list<std::pair<const char*, const std::string*>> outputs);

}  // namespace fovea::cli
