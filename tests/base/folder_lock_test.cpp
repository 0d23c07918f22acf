#include "base/folder_lock.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "fovea/error.hpp"
#include "support/scratch.hpp"

namespace fovea {
namespace {

using testing::HasSubstr;

TEST(FolderLock, ASecondOneIsRefusedAndNamesTheProcess) {
  const test::Scratch scratch;
  const FolderLock first(scratch / "model");
  try {
    const FolderLock second(scratch / "model");
    FAIL() << "two locks on one folder";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(::getpid())));
    EXPECT_THAT(error.what(), HasSubstr("model"));
  }
}

TEST(FolderLock, TheFolderIsFreeAgainAfterwards) {
  const test::Scratch scratch;
  { const FolderLock first(scratch / "model"); }
  EXPECT_FALSE(std::filesystem::exists(scratch / "model")) << "it was made for the lock alone";
  {
    const FolderLock second(scratch / "model");
    std::ofstream(scratch / "model" / "file") << "kept";
  }
  EXPECT_TRUE(std::filesystem::exists(scratch / "model" / "file"));
  EXPECT_FALSE(std::filesystem::exists(scratch / "model" / ".lock"));
}

// A killed process leaves a file without a holder.
TEST(FolderLock, AFileWithoutAHolderIsNoLock) {
  const test::Scratch scratch;
  std::ofstream(scratch / ".lock") << "1";
  const FolderLock lock(scratch.folder());
}

TEST(FolderLock, AFolderThatCannotBeMadeIsAnError) {
  EXPECT_THROW(FolderLock("/dev/null/model"), FileError);
}

}  // namespace
}  // namespace fovea
