// Archives as PyTorch and NumPy write them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace fovea::interop {

/// One file of an archive.
struct ZipEntry {
  std::string name;
  std::span<const std::byte> bytes;  // unpacked
  std::shared_ptr<void> owner;       // of the bytes
};

/// The files of a zip archive (PKWARE's APPNOTE 6.3; stored or deflated, also with 64-bit sizes). `owner` keeps
/// `bytes`. Nothing is written anywhere, and a deflated file may not claim more than deflate can give. Throws FileError
/// beginning with `where`.
[[nodiscard]] std::vector<ZipEntry> read_zip(std::span<const std::byte> bytes, const std::shared_ptr<void>& owner,
                                             const std::string& where);

}  // namespace fovea::interop
