// libjpeg reports errors by a call that must not return, so decoding is plain C from setjmp to the end: nothing with a
// destructor is made in between, and all of it lives in Decoding.
#include "image/jpeg.hpp"

#include <fmt/format.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <jpeglib.h>  // needs <cstdio> before it

#include <jerror.h>

#include "fovea/error.hpp"

namespace fovea {
namespace {

constexpr unsigned kExifMarker = JPEG_APP0 + 1;
constexpr int kMostScans = 500;  // of a progressive file: each goes over the whole picture

struct Decoding {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf out{};
  char message[JMSG_LENGTH_MAX]{};
};

[[noreturn]] void leave(j_common_ptr info) {
  auto& decoding = *static_cast<Decoding*>(info->client_data);
  (*info->err->format_message)(info, decoding.message);
  std::longjmp(decoding.out, 1);
}

// Warnings: data that ends or breaks off inside the picture leaves grey where there should be something.
void warn(j_common_ptr info, int level) {
  const int code = info->err->msg_code;
  if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) leave(info);
}

void watch_scans(j_common_ptr info) {
  auto& decoding = *static_cast<Decoding*>(info->client_data);
  if (info->is_decompressor && decoding.jpeg.input_scan_number > kMostScans) {
    std::strcpy(decoding.message, "too many scans");
    std::longjmp(decoding.out, 1);
  }
}

// False on an error, which decoding.message describes.
bool read_header(Decoding& d, std::span<const std::byte> bytes) {
  d.jpeg.err = jpeg_std_error(&d.errors);
  d.errors.error_exit = leave;
  d.errors.emit_message = warn;
  d.jpeg.client_data = &d;
  if (setjmp(d.out) != 0) return false;  // NOLINT(cert-err52-cpp): libjpeg's way
  jpeg_create_decompress(&d.jpeg);
  d.progress.progress_monitor = watch_scans;
  d.jpeg.progress = &d.progress;
  jpeg_save_markers(&d.jpeg, kExifMarker, 0xFFFF);
  jpeg_mem_src(&d.jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&d.jpeg, TRUE);
  return true;
}

// Rows of `components` bytes to `pixels`.
bool read_pixels(Decoding& d, std::uint8_t* pixels) {
  if (setjmp(d.out) != 0) return false;  // NOLINT(cert-err52-cpp)
  jpeg_start_decompress(&d.jpeg);
  const std::size_t stride =
      static_cast<std::size_t>(d.jpeg.output_width) * static_cast<std::size_t>(d.jpeg.output_components);
  while (d.jpeg.output_scanline < d.jpeg.output_height) {
    JSAMPROW row = pixels + d.jpeg.output_scanline * stride;
    jpeg_read_scanlines(&d.jpeg, &row, 1);
  }
  jpeg_finish_decompress(&d.jpeg);
  return true;
}

// Ink to light. Adobe's programs store 255 for no ink, and say so with their marker.
void cmyk_to_rgb(const std::vector<std::uint8_t>& cmyk, bool inverted, std::vector<std::uint8_t>& rgb) {
  for (std::size_t i = 0; i < rgb.size() / 3; ++i) {
    const auto light = [&](std::size_t k) {
      const int v = cmyk[4 * i + k];
      return inverted ? v : 255 - v;
    };
    for (std::size_t c = 0; c < 3; ++c) {
      rgb[3 * i + c] = static_cast<std::uint8_t>((light(c) * light(3) + 127) / 255);
    }
  }
}

}  // namespace

void check_size(const std::string& name, std::int64_t width, std::int64_t height, const PictureLimits& limits) {
  if (width < 1 || height < 1) throw FileError(fmt::format("{}: a picture of {}x{} pixels", name, width, height));
  if (width > limits.side || height > limits.side || width * height > limits.pixels) {
    throw FileError(fmt::format("{}: {}x{} pixels are too many; at most {} million, and {} on a side, are read", name,
                                width, height, limits.pixels / 1'000'000, limits.side));
  }
}

Picture decode_jpeg(std::span<const std::byte> bytes, const std::string& name, const PictureLimits& limits) {
  const auto decoding = std::make_unique<Decoding>();
  struct Destroy {
    Decoding& d;
    ~Destroy() { jpeg_destroy_decompress(&d.jpeg); }
  } const destroy{*decoding};
  jpeg_decompress_struct& jpeg = decoding->jpeg;
  const auto fail = [&] { throw FileError(fmt::format("{}: not a whole JPEG: {}", name, decoding->message)); };
  if (!read_header(*decoding, bytes)) fail();
  Picture picture{jpeg.image_width, jpeg.image_height, {}};
  check_size(name, picture.width, picture.height, limits);
  int orientation = 1;
  for (auto* marker = jpeg.marker_list; marker != nullptr && orientation == 1; marker = marker->next) {
    if (marker->marker != kExifMarker) continue;
    orientation = exif_orientation(std::as_bytes(std::span(marker->data, marker->data_length)));
  }
  const bool ink = jpeg.jpeg_color_space == JCS_CMYK || jpeg.jpeg_color_space == JCS_YCCK;
  jpeg.out_color_space = ink ? JCS_CMYK : JCS_RGB;
  const auto pixels = static_cast<std::size_t>(picture.width * picture.height);
  std::vector<std::uint8_t> raw(pixels * (ink ? 4 : 3));
  if (!read_pixels(*decoding, raw.data())) fail();
  if (ink) {
    picture.rgb.resize(pixels * 3);
    cmyk_to_rgb(raw, jpeg.saw_Adobe_marker != 0, picture.rgb);
  } else {
    picture.rgb = std::move(raw);
  }
  return turned(std::move(picture), orientation);
}

namespace {

struct Encoding {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  std::jmp_buf out{};
  unsigned char* bytes = nullptr;
  unsigned long count = 0;
};

bool write_pixels(Encoding& e, const Picture& picture, int quality) {
  e.jpeg.err = jpeg_std_error(&e.errors);
  e.errors.error_exit = [](j_common_ptr info) { std::longjmp(static_cast<Encoding*>(info->client_data)->out, 1); };
  e.jpeg.client_data = &e;
  if (setjmp(e.out) != 0) return false;  // NOLINT(cert-err52-cpp)
  jpeg_create_compress(&e.jpeg);
  jpeg_mem_dest(&e.jpeg, &e.bytes, &e.count);
  e.jpeg.image_width = static_cast<JDIMENSION>(picture.width);
  e.jpeg.image_height = static_cast<JDIMENSION>(picture.height);
  e.jpeg.input_components = 3;
  e.jpeg.in_color_space = JCS_RGB;
  jpeg_set_defaults(&e.jpeg);
  jpeg_set_quality(&e.jpeg, quality, TRUE);
  jpeg_start_compress(&e.jpeg, TRUE);
  while (e.jpeg.next_scanline < e.jpeg.image_height) {
    auto* row = const_cast<JSAMPROW>(picture.rgb.data() + static_cast<std::size_t>(e.jpeg.next_scanline) *
                                                              static_cast<std::size_t>(picture.width) * 3);
    jpeg_write_scanlines(&e.jpeg, &row, 1);
  }
  jpeg_finish_compress(&e.jpeg);
  return true;
}

}  // namespace

std::string encode_jpeg(const Picture& picture, int quality) {
  const auto encoding = std::make_unique<Encoding>();
  struct Destroy {
    Encoding& e;
    ~Destroy() {
      jpeg_destroy_compress(&e.jpeg);
      std::free(e.bytes);
    }
  } const destroy{*encoding};
  if (picture.width < 1 || picture.height < 1 || picture.width > 65500 || picture.height > 65500 ||
      !write_pixels(*encoding, picture, quality)) {
    throw Error(fmt::format("a picture of {}x{} pixels cannot become a JPEG", picture.width, picture.height));
  }
  return {reinterpret_cast<const char*>(encoding->bytes), encoding->count};
}

}  // namespace fovea
