// Fovea's version: the one place where it stands. CMake reads it from here.
#pragma once

#define FOVEA_VERSION_MAJOR 0
#define FOVEA_VERSION_MINOR 2
#define FOVEA_VERSION_PATCH 0

namespace fovea {

/// The version of the library that was linked, "0.2.0"; the macros are that of the headers.
[[nodiscard]] const char* version() noexcept;

}  // namespace fovea
