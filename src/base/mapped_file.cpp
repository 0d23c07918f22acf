#include "base/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "fovea/error.hpp"

namespace fovea {
namespace {

// Closes what open() gave, whichever way the function is left.
struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw FileError(fmt::format("{}: cannot read: {}", path.string(), std::generic_category().message(error)));
}

}  // namespace

std::shared_ptr<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  // Without O_NONBLOCK a named pipe would make this wait for a writer.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.value < 0) fail(path, errno);
  struct stat status {};
  if (::fstat(file.value, &status) != 0) fail(path, errno);
  if (S_ISDIR(status.st_mode)) fail(path, EISDIR);
  if (!S_ISREG(status.st_mode)) throw FileError(path.string() + ": cannot read: not a regular file");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return std::make_shared<MappedFile>(std::span<std::byte>());
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.value, 0);
  if (memory == MAP_FAILED) fail(path, errno);
  try {
    return std::make_shared<MappedFile>(std::span(static_cast<std::byte*>(memory), size));
  } catch (...) {
    ::munmap(memory, size);
    throw;
  }
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

}  // namespace fovea
