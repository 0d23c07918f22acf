// Fovea's version: the one place where it stands. CMake reads it from here.
#pragma once

/// Of the headers: changes when models or programs of before no longer work.
#define FOVEA_VERSION_MAJOR 0
/// Of the headers: changes with what is new.
#define FOVEA_VERSION_MINOR 2
/// Of the headers: changes with what is mended.
#define FOVEA_VERSION_PATCH 0

namespace fovea {

/// The version of the library that was linked, "0.2.0"; the macros are that of the headers.
[[nodiscard]] const char* version() noexcept;

}  // namespace fovea
