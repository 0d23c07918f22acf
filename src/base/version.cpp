#include "fovea/version.hpp"

namespace fovea {
namespace {

#define FOVEA_TEXT_OF(number) #number
#define FOVEA_VERSION_TEXT(major, minor, patch) FOVEA_TEXT_OF(major) "." FOVEA_TEXT_OF(minor) "." FOVEA_TEXT_OF(patch)

constexpr const char* kVersion = FOVEA_VERSION_TEXT(FOVEA_VERSION_MAJOR, FOVEA_VERSION_MINOR, FOVEA_VERSION_PATCH);

}  // namespace

const char* version() noexcept {
  return kVersion;
}

}  // namespace fovea
