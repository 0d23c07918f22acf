// Finds pictures: in files of their own, or many in one file that has an index.
#include <fmt/format.h>

#include <charconv>
#include <mutex>
#include <unordered_map>

#include "base/mapped_file.hpp"
#include "fovea/error.hpp"
#include "fovea/picture.hpp"

namespace fovea {

// X.index.tsv or X.tsv with X.images.bin.
struct PackedPictures {
  struct Extent {
    std::size_t offset = 0, length = 0;
  };
  std::shared_ptr<MappedFile> images;
  std::unordered_map<std::string, Extent> extents;
};

namespace {

std::string images_of(std::string index) {
  for (const std::string_view ending : {".index.tsv", ".tsv"}) {
    if (!index.ends_with(ending)) continue;
    index.resize(index.size() - ending.size());
    break;
  }
  return index + ".images.bin";
}

bool number(std::string_view text, std::size_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

PackedPictures read_index(const std::string& index) {
  const auto file = MappedFile::open(index);
  PackedPictures packed;
  const std::string images = images_of(index);
  packed.images = MappedFile::open(images);
  const std::size_t size = packed.images->bytes().size();
  std::string_view rest(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  for (std::int64_t line = 1; !rest.empty(); ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view text = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (text.empty()) continue;
    const std::size_t first = text.find('\t');
    const std::size_t second = first == text.npos ? text.npos : text.find('\t', first + 1);
    PackedPictures::Extent extent;
    if (second == text.npos || first == 0 || !number(text.substr(first + 1, second - first - 1), extent.offset) ||
        !number(text.substr(second + 1), extent.length)) {
      throw FileError(fmt::format("{}:{}: not name, tab, byte offset, tab, byte length", index, line));
    }
    if (extent.offset > size || extent.length > size - extent.offset) {
      throw FileError(fmt::format("{}:{}: bytes {} and {} more are past the end of {}, which has {}", index, line,
                                  extent.offset, extent.length, images, size));
    }
    if (!packed.extents.emplace(text.substr(0, first), extent).second) {
      throw FileError(fmt::format("{}:{}: {} is there twice", index, line, text.substr(0, first)));
    }
  }
  return packed;
}

}  // namespace

struct PictureFiles::Impl {
  std::mutex mutex;
  std::unordered_map<std::string, std::shared_ptr<const PackedPictures>> indexes;

  std::shared_ptr<const PackedPictures> index(const std::string& path) {
    const std::lock_guard lock(mutex);
    auto& held = indexes[path];
    if (!held) held = std::make_shared<const PackedPictures>(read_index(path));
    return held;
  }
};

PictureFiles::PictureFiles() : impl_(std::make_unique<Impl>()) {}
PictureFiles::~PictureFiles() = default;

PictureFiles::Bytes PictureFiles::find(const std::string& place) const {
  const std::size_t hash = place.find(".tsv#");
  if (hash == std::string::npos) {
    const auto file = MappedFile::open(place);
    return {file->bytes(), file};
  }
  const auto packed = impl_->index(place.substr(0, hash + 4));
  const auto found = packed->extents.find(place.substr(hash + 5));
  if (found == packed->extents.end()) {
    throw FileError(fmt::format("{}: the index has no picture of that name", place));
  }
  return {std::span<const std::byte>(packed->images->bytes()).subspan(found->second.offset, found->second.length),
          packed};
}

Picture PictureFiles::read(const std::string& place, const PictureLimits& limits) const {
  const Bytes found = find(place);
  return decode_picture(found.bytes, place, limits);
}

}  // namespace fovea
