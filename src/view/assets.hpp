// The files of web/, compiled in.
#pragma once

#include <string>
#include <string_view>

namespace fovea::view {

/// The bytes of web/NAME as they were when Fovea was built. Throws Error when there is no such file.
[[nodiscard]] std::string_view asset(std::string_view name);

}  // namespace fovea::view
