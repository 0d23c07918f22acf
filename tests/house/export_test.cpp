// Shared libraries are compiled with hidden visibility: a public header without FOVEA_API would declare functions that
// no program can link.
#include <gmock/gmock.h>

#include <filesystem>

#include "support/scratch.hpp"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

TEST(Export, EveryPublicHeaderExportsItsNames) {
  int headers = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(FOVEA_SOURCE_DIR) / "include")) {
    if (entry.path().extension() != ".hpp") continue;
    EXPECT_THAT(test::read_text(entry.path()), Not(HasSubstr("\nnamespace fovea {"))) << entry.path();
    ++headers;
  }
  EXPECT_GT(headers, 50);
}

// The binary and these tests link the static libraries, whose private names they use.
TEST(Export, NoPrivateHeaderExportsAnything) {
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(FOVEA_SOURCE_DIR) / "src")) {
    if (entry.path().extension() != ".hpp" && entry.path().extension() != ".cpp") continue;
    EXPECT_THAT(test::read_text(entry.path()), Not(HasSubstr("FOVEA_API"))) << entry.path();
  }
}

}  // namespace
}  // namespace fovea
