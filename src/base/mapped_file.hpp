// Files read through memory mapping.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace fovea {

/// The bytes of a file. They may be written to, which changes this process's copy and never the file. Throws FileError
/// when the file is missing, unreadable or not a regular file.
class MappedFile {
 public:
  [[nodiscard]] static std::shared_ptr<MappedFile> open(const std::filesystem::path& path);
  explicit MappedFile(std::span<std::byte> bytes) : bytes_(bytes) {}
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace fovea
