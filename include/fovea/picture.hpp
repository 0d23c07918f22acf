// Pictures as pixels: read from JPEG and PNG, cut to a square and resized.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/export.hpp"

namespace FOVEA_API fovea {

/// Red, green and blue of each pixel, row by row from the top.
struct Picture {
  std::int64_t width = 0, height = 0;  // pixels
  std::vector<std::uint8_t> rgb{};     // [height, width, 3]
};

/// The largest picture that is decoded. The first bytes of a file hold its size, so that a larger one is refused before
/// memory is allocated.
struct PictureLimits {
  std::int64_t pixels = 50'000'000;  // width times height
  std::int64_t side = 30'000;        // width or height
};

/// A JPEG or PNG in memory: grey, palettes, 16 bits, CMYK and progressive ones included. What is transparent is laid
/// over white, and a JPEG that says in its EXIF data that it lies on its side is turned. Throws FileError that begins
/// with `name` when it is empty, broken, cut short, too large or another format.
[[nodiscard]] Picture decode_picture(std::span<const std::byte> bytes, const std::string& name,
                                     const PictureLimits& limits = {});

/// The largest square in the middle of a picture, resized to side x side. Every pixel of the result is a weighted mean
/// over all that it covers (a triangle as wide as two of the result's pixels), so that nothing fine becomes a pattern.
[[nodiscard]] Picture square(const Picture& picture, std::int64_t side);

/// A JPEG file of these pixels; `quality` from 1 to 100.
[[nodiscard]] std::string encode_jpeg(const Picture& picture, int quality = 90);

/// Finds pictures by a line of text: a path, or INDEX.tsv#NAME. Each line of the index is name, tab, byte offset, tab,
/// byte length in a file of the same folder: X.images.bin for X.index.tsv or X.tsv. Threads may share it; an index is
/// read once.
class PictureFiles {
 public:
  PictureFiles();
  ~PictureFiles();
  PictureFiles(const PictureFiles&) = delete;
  PictureFiles& operator=(const PictureFiles&) = delete;

  /// The picture's file as it is, for as long as the result is held.
  struct Bytes {
    std::span<const std::byte> bytes{};   // of the JPEG or PNG
    std::shared_ptr<const void> owner{};  // keeps them
  };
  /// Throws FileError that begins with `place` when there is no such file or name, or an index does not fit its
  /// pictures.
  [[nodiscard]] Bytes find(const std::string& place) const;
  /// The same, decoded.
  [[nodiscard]] Picture read(const std::string& place, const PictureLimits& limits = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fovea
