// Pictures that tests make themselves: coloured shapes, and files of the kinds that cameras and programs leave.
#pragma once

#include <jpeglib.h>  // after <cstdio>
#include <png.h>
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "fovea/picture.hpp"

namespace fovea::test {

struct Colour {
  std::uint8_t red = 0, green = 0, blue = 0;
};

inline Picture plain_picture(std::int64_t width, std::int64_t height, Colour c) {
  Picture p{width, height, {}};
  for (std::int64_t i = 0; i < width * height; ++i) p.rgb.insert(p.rgb.end(), {c.red, c.green, c.blue});
  return p;
}

inline Colour pixel(const Picture& p, std::int64_t x, std::int64_t y) {
  const std::uint8_t* at = p.rgb.data() + 3 * (y * p.width + x);
  return {at[0], at[1], at[2]};
}

inline void set_pixel(Picture& p, std::int64_t x, std::int64_t y, Colour c) {
  std::uint8_t* at = p.rgb.data() + 3 * (y * p.width + x);
  at[0] = c.red, at[1] = c.green, at[2] = c.blue;
}

enum class ShapeKind { square, circle };

/// A filled shape around a point.
inline void draw(Picture& p, ShapeKind kind, Colour c, double x, double y, double radius) {
  for (std::int64_t v = 0; v < p.height; ++v) {
    for (std::int64_t u = 0; u < p.width; ++u) {
      const double dx = static_cast<double>(u) + 0.5 - x;
      const double dy = static_cast<double>(v) + 0.5 - y;
      const bool inside = kind == ShapeKind::circle ? dx * dx + dy * dy <= radius * radius
                                                    : std::abs(dx) <= radius && std::abs(dy) <= radius;
      if (inside) set_pixel(p, u, v, c);
    }
  }
}

/// How a JPEG file is written.
struct JpegKind {
  J_COLOR_SPACE space = JCS_RGB;  // of `pixels`: JCS_RGB, JCS_GRAYSCALE or JCS_CMYK
  J_COLOR_SPACE stored = JCS_YCbCr;
  bool progressive = false;
  bool adobe = true;      // of CMYK: with Adobe's marker
  std::string app1 = {};  // EXIF data
};

inline std::string jpeg_file(std::int64_t width, std::int64_t height, const std::vector<std::uint8_t>& pixels,
                             const JpegKind& kind = {}) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long count = 0;
  jpeg_mem_dest(&jpeg, &bytes, &count);
  jpeg.image_width = static_cast<JDIMENSION>(width);
  jpeg.image_height = static_cast<JDIMENSION>(height);
  jpeg.in_color_space = kind.space;
  jpeg.input_components = kind.space == JCS_GRAYSCALE ? 1 : kind.space == JCS_CMYK ? 4 : 3;
  jpeg_set_defaults(&jpeg);
  jpeg_set_colorspace(&jpeg, kind.space == JCS_GRAYSCALE ? JCS_GRAYSCALE : kind.stored);
  jpeg_set_quality(&jpeg, 98, TRUE);
  for (int c = 0; c < jpeg.num_components; ++c) jpeg.comp_info[c].h_samp_factor = jpeg.comp_info[c].v_samp_factor = 1;
  if (kind.progressive) jpeg_simple_progression(&jpeg);
  jpeg.write_Adobe_marker = kind.space == JCS_CMYK && kind.adobe ? TRUE : FALSE;
  jpeg_start_compress(&jpeg, TRUE);
  if (!kind.app1.empty()) {
    jpeg_write_marker(&jpeg, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(kind.app1.data()),
                      static_cast<unsigned>(kind.app1.size()));
  }
  while (jpeg.next_scanline < jpeg.image_height) {
    auto* row = const_cast<JSAMPROW>(pixels.data() + static_cast<std::size_t>(jpeg.next_scanline) *
                                                         static_cast<std::size_t>(width) *
                                                         static_cast<std::size_t>(jpeg.input_components));
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  std::string file(reinterpret_cast<const char*>(bytes), count);
  jpeg_destroy_compress(&jpeg);
  std::free(bytes);
  return file;
}

/// EXIF data that say nothing but which way up the picture is.
inline std::string exif(int orientation, bool big_endian = false) {
  std::string data("Exif\0\0", 6);
  const auto add = [&](unsigned value, int count) {
    for (int i = 0; i < count; ++i) data += static_cast<char>(value >> (8 * (big_endian ? count - 1 - i : i)) & 0xFFU);
  };
  data += big_endian ? "MM" : "II";
  add(42, 2);
  add(8, 4);
  add(1, 2);
  add(0x0112, 2);
  add(3, 2);
  add(1, 4);
  add(static_cast<unsigned>(orientation), 2);
  add(0, 2);
  add(0, 4);
  return data;
}

/// `format` as libpng names them: PNG_FORMAT_RGB, PNG_FORMAT_RGBA, PNG_FORMAT_GRAY …
inline std::string png_file(std::int64_t width, std::int64_t height, const std::vector<std::uint8_t>& pixels,
                            unsigned format = PNG_FORMAT_RGB) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(width);
  png.height = static_cast<png_uint_32>(height);
  png.format = format;
  png_alloc_size_t size = 0;
  png_image_write_to_memory(&png, nullptr, &size, 0, pixels.data(), 0, nullptr);
  std::string file(size, '\0');
  png_image_write_to_memory(&png, file.data(), &size, 0, pixels.data(), 0, nullptr);
  file.resize(size);
  return file;
}
inline std::string png_file(const Picture& p) {
  return png_file(p.width, p.height, p.rgb);
}

inline std::span<const std::byte> bytes_of(const std::string& file) {
  return std::as_bytes(std::span(file.data(), file.size()));
}

}  // namespace fovea::test
