#include "view/assets.hpp"

#include <zlib.h>

#include <map>
#include <string>

#include "fovea/error.hpp"
#include "view/packed_assets.hpp"

namespace fovea::view {
namespace {

std::string unpack(const PackedAsset& packed) {
  std::string out(packed.size, '\0');
  z_stream stream{};
  stream.next_in = const_cast<unsigned char*>(packed.gzip.data());  // zlib only reads it
  stream.avail_in = static_cast<uInt>(packed.gzip.size());
  stream.next_out = reinterpret_cast<unsigned char*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  constexpr int gzip_window = 16 + MAX_WBITS;
  const bool whole = inflateInit2(&stream, gzip_window) == Z_OK && inflate(&stream, Z_FINISH) == Z_STREAM_END;
  inflateEnd(&stream);
  if (!whole) throw Error("cannot unpack " + std::string(packed.name));
  return out;
}

std::map<std::string_view, std::string> unpack_all() {
  std::map<std::string_view, std::string> files;
  for (const PackedAsset& packed : packed_assets()) files.emplace(packed.name, unpack(packed));
  return files;
}

}  // namespace

std::string_view asset(std::string_view name) {
  static const std::map<std::string_view, std::string> files = unpack_all();
  const auto found = files.find(name);
  if (found == files.end()) throw Error("no asset " + std::string(name));
  return found->second;
}

}  // namespace fovea::view
