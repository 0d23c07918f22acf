#include "interop/zip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <set>

#include "interop/byte_reader.hpp"

namespace fovea::interop {
namespace {

constexpr std::uint32_t kLocal = 0x04034b50;
constexpr std::uint32_t kCentral = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kEnd64 = 0x06064b50;
constexpr std::uint32_t kLocator64 = 0x07064b50;
constexpr std::uint64_t kMostRatio = 1040;  // deflate gives at most 1032 bytes for one

struct Directory {
  std::uint64_t entries = 0, offset = 0;
};

Directory find_directory(std::span<const std::byte> bytes, const std::string& where) {
  constexpr std::size_t size = 22;
  if (bytes.size() < size) throw FileError(where + ": not a zip archive");
  const std::size_t lowest = bytes.size() - std::min(bytes.size(), size + 65535);
  for (std::size_t at = bytes.size() - size + 1; at-- > lowest;) {
    ByteReader in(bytes, where);
    in.seek(at);
    if (in.number<std::uint32_t>() != kEnd) continue;
    (void)in.take(6);
    Directory found;
    found.entries = in.number<std::uint16_t>();
    (void)in.take(4);
    found.offset = in.number<std::uint32_t>();
    if ((found.entries == 0xFFFF || found.offset == 0xFFFFFFFF) && at >= 20) {
      in.seek(at - 20);
      if (in.number<std::uint32_t>() == kLocator64) {
        (void)in.take(4);
        in.seek(in.number<std::uint64_t>());
        if (in.number<std::uint32_t>() != kEnd64) throw FileError(where + ": damaged 64-bit directory");
        (void)in.take(28);
        found.entries = in.number<std::uint64_t>();
        (void)in.take(8);
        found.offset = in.number<std::uint64_t>();
      }
    }
    return found;
  }
  throw FileError(where + ": not a zip archive");
}

std::shared_ptr<std::vector<std::byte>> inflated(std::span<const std::byte> packed, std::uint64_t size,
                                                 const std::string& where) {
  if (size / kMostRatio > packed.size()) throw FileError(where + ": claims to unpack to more than it can");
  auto out = std::make_shared<std::vector<std::byte>>(size);
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw FileError(where + ": cannot be unpacked");
  std::size_t read = 0;
  std::size_t written = 0;
  int status = Z_OK;
  constexpr std::size_t most = std::size_t{1} << 30;
  while (status == Z_OK) {
    const std::size_t in = std::min(most, packed.size() - read);
    const std::size_t room = std::min(most, out->size() - written);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data() + read));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(out->data() + written);
    stream.avail_out = static_cast<uInt>(room);
    status = inflate(&stream, Z_NO_FLUSH);
    const std::size_t used = in - stream.avail_in;
    const std::size_t made = room - stream.avail_out;
    read += used;
    written += made;
    if (status == Z_OK && used == 0 && made == 0) break;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || written != size) throw FileError(where + ": damaged, it does not unpack to its size");
  return out;
}

}  // namespace

std::vector<ZipEntry> read_zip(std::span<const std::byte> bytes, const std::shared_ptr<void>& owner,
                               const std::string& where) {
  const Directory directory = find_directory(bytes, where);
  ByteReader in(bytes, where);
  in.seek(directory.offset);
  std::vector<ZipEntry> entries;
  std::set<std::string> names;
  std::uint64_t unpacked = 0;
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    if (in.number<std::uint32_t>() != kCentral) throw FileError(where + ": damaged directory");
    (void)in.take(4);
    const auto flags = in.number<std::uint16_t>();
    const auto method = in.number<std::uint16_t>();
    (void)in.take(8);
    std::uint64_t packed = in.number<std::uint32_t>();
    std::uint64_t size = in.number<std::uint32_t>();
    const auto name_length = in.number<std::uint16_t>();
    const auto extra_length = in.number<std::uint16_t>();
    const auto comment_length = in.number<std::uint16_t>();
    (void)in.take(8);
    std::uint64_t offset = in.number<std::uint32_t>();
    ZipEntry entry;
    entry.name = in.text(name_length);
    const std::string which = fmt::format("{}: {}", where, entry.name);
    ByteReader extra(in.take(extra_length), which);
    while (extra.left() >= 4) {  // 64-bit sizes have a field of their own
      const auto id = extra.number<std::uint16_t>();
      ByteReader field(extra.take(extra.number<std::uint16_t>()), which);
      if (id != 1) continue;
      if (size == 0xFFFFFFFF) size = field.number<std::uint64_t>();
      if (packed == 0xFFFFFFFF) packed = field.number<std::uint64_t>();
      if (offset == 0xFFFFFFFF) offset = field.number<std::uint64_t>();
    }
    (void)in.take(comment_length);
    if ((flags & 1) != 0) throw FileError(which + ": is encrypted");
    if (!names.insert(entry.name).second) throw FileError(which + ": is in the archive twice");
    ByteReader local(bytes, which);
    local.seek(offset);
    if (local.number<std::uint32_t>() != kLocal) throw FileError(which + ": damaged archive");
    (void)local.take(22);
    const auto local_name = local.number<std::uint16_t>();
    const auto local_extra = local.number<std::uint16_t>();
    (void)local.take(std::size_t{local_name} + local_extra);
    const auto data = local.take(packed);
    if (method == 0) {
      if (packed != size) throw FileError(which + ": damaged archive");
      entry.bytes = data;
      entry.owner = owner;
    } else if (method == 8) {
      unpacked += size;
      if (unpacked / kMostRatio > bytes.size()) throw FileError(which + ": claims to unpack to more than it can");
      const auto out = inflated(data, size, which);
      entry.bytes = *out;
      entry.owner = out;
    } else {
      throw FileError(fmt::format("{}: packed by method {}, only stored and deflated files are read", which, method));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace fovea::interop
