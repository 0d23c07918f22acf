// What happens where ICU was built with no data, as in some static builds: finding words is a FileError that says so,
// every time, and what needs no data goes on. A program of its own: its empty data takes the place of libicudata's.
#include <unicode/udata.h>

#include <cstdint>
#include <iostream>
#include <string>

#include "fovea/error.hpp"
#include "text/segment.hpp"
#include "text/unicode.hpp"

// A table of contents with nothing in it.
struct EmptyIcuData {
  std::uint16_t header_size;
  std::uint8_t magic[2];
  UDataInfo info;
  alignas(16) std::uint32_t items;
};
extern "C" U_EXPORT const EmptyIcuData U_ICUDATA_ENTRY_POINT;
const EmptyIcuData U_ICUDATA_ENTRY_POINT{
    32,
    {0xDA, 0x27},
    {sizeof(UDataInfo), 0, U_IS_BIG_ENDIAN, U_CHARSET_FAMILY, U_SIZEOF_UCHAR, 0, {'C', 'm', 'n', 'D'}, {1}, {0}},
    0};

int main() {
  using namespace fovea;
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      (void)text::segment("小猫");
      std::cerr << "words without data\n";
      return 1;
    } catch (const FileError& error) {
      if (std::string(error.what()).find("cannot find words: U_") == std::string::npos) {
        std::cerr << error.what() << "\n";
        return 1;
      }
    }
  }
  if (text::cut_unspaced("plain").size() != 1 || text::to_lower("ÄΣ") != "äς" || text::columns(U'猫') != 2) {
    std::cerr << "what needs no data does not work\n";
    return 1;
  }
  return 0;
}
