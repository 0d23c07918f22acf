#include "base/folder_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "fovea/error.hpp"

namespace fovea {
namespace {

std::string text_in(int descriptor) {
  char text[32] = {};
  const ssize_t count = ::pread(descriptor, text, sizeof text - 1, 0);
  return {text, static_cast<std::size_t>(count > 0 ? count : 0)};
}

// Whether the name still stands for the open file: its holder removes it when it is done.
bool still_there(int descriptor, const std::filesystem::path& file) {
  struct stat open {};
  struct stat named {};
  return ::fstat(descriptor, &open) == 0 && ::stat(file.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder, const char* field) : file_(folder / ".lock") {
  std::error_code error;
  made_ = std::filesystem::create_directories(folder, error);
  for (;;) {
    descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor_ < 0) {
      throw FileError(fmt::format("{}: cannot be written: {}", folder.string(), std::strerror(errno)));
    }
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      const int reason = errno;
      const std::string holder = text_in(descriptor_);
      ::close(descriptor_);
      if (reason != EWOULDBLOCK) throw FileError(fmt::format("{}: {}", file_.string(), std::strerror(reason)));
      throw UsageError(field, fmt::format("process {} is at work in {}; wait for its end, or give another folder",
                                          holder.empty() ? "another" : holder, folder.string()));
    }
    if (still_there(descriptor_, file_)) break;
    ::close(descriptor_);
  }
  const std::string process = std::to_string(::getpid());
  if (::ftruncate(descriptor_, 0) != 0 || ::pwrite(descriptor_, process.data(), process.size(), 0) < 0) {
    const int reason = errno;
    ::close(descriptor_);
    throw FileError(fmt::format("{}: cannot be written: {}", file_.string(), std::strerror(reason)));
  }
}

FolderLock::~FolderLock() {
  ::unlink(file_.c_str());
  ::close(descriptor_);
  if (made_) ::rmdir(file_.parent_path().c_str());  // fails when it holds anything
}

}  // namespace fovea
