// Fovea's version, defined here alone. CMake reads it from this file.
#pragma once

#include "fovea/export.hpp"

/// Version of the headers: changes with incompatible changes.
#define FOVEA_VERSION_MAJOR 0
/// Version of the headers: changes with new features.
#define FOVEA_VERSION_MINOR 2
/// Version of the headers: changes with bug fixes.
#define FOVEA_VERSION_PATCH 0

namespace FOVEA_API fovea {

/// The version of the library that was linked, "0.2.0"; the macros are that of the headers.
[[nodiscard]] const char* version() noexcept;

}  // namespace fovea
