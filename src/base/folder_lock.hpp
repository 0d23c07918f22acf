// Keeps two processes from working in one folder.
#pragma once

#include <filesystem>

namespace fovea {

/// A folder is locked while this lives, or until the process ends in any way. The lock is the file `.lock`, which holds
/// the number of the process.
class FolderLock {
 public:
  /// Makes the folder if it is not there. Throws UsageError naming `field` and the process that holds the lock,
  /// FileError when the folder cannot be made or written to.
  explicit FolderLock(const std::filesystem::path& folder, const char* field = "model");
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  std::filesystem::path file_;
  bool made_ = false;  // the folder: it goes again unless something was put into it
  int descriptor_ = -1;
};

}  // namespace fovea
