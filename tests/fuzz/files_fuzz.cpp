// Any bytes as a file of text, gzip or plain, as gzip on standard input, as an index of pictures or as a --config file
// (the first byte chooses): lines, places or arguments as they should be, or an Error, never anything else.
#include <zlib.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "cli/io/gunzip.hpp"
#include "cli/options/declared_options.hpp"
#include "fovea/error.hpp"
#include "fovea/picture.hpp"
#include "fuzz_folder.hpp"
#include "text/lines.hpp"
#include "text/unicode.hpp"

namespace {

const FuzzFolder& folder() {
  static const FuzzFolder one;
  return one;
}

void check(const std::string& line) {
  if (line.size() > 1 << 20 || fovea::text::invalid_utf8(line) != std::string::npos) std::abort();
  if (line.find('\0') != std::string::npos || line.find('\n') != std::string::npos) std::abort();
}

void read_file(std::string_view bytes) {
  fovea::text::LineReader reader(folder().write("text.gz", bytes));
  for (std::string line; reader.next(line);) check(line);
}

// Bytes as they are seldom pass gzip's checksum.
std::string packed(std::string_view bytes) {
  const std::string path = (folder().path / "packed.gz").string();
  const gzFile out = gzopen(path.c_str(), "wb1");
  if (out == nullptr) std::abort();
  if (!bytes.empty()) gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(out);
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void read_input(const std::string& bytes) {
  std::istringstream in(bytes);
  fovea::cli::TextInput text(in);
  for (std::string line; std::getline(text.stream(), line);) {
    if (line.find('\n') != std::string::npos) std::abort();
  }
}

void find_pictures(std::string_view index) {
  static const std::string images = folder().write("x.images.bin", "0123456789");
  const std::string place = folder().write("x.tsv", index);
  const fovea::PictureFiles files;
  for (const char* name : {"a", "b.jpg", ""}) {
    try {
      const auto found = files.find(place + "#" + name);
      std::size_t sum = 0;
      for (const std::byte b : found.bytes) sum += static_cast<std::size_t>(b);
      if (found.bytes.size() > 10 || sum > 10 * 255) std::abort();
    } catch (const fovea::FileError&) {
    }
  }
}

void read_config(std::string_view bytes) {
  const std::vector<fovea::OptionInfo> options = {
      {.name = "max-steps", .field = "max-steps"},
      {.name = "source", .field = "source"},
      {.name = "shared-vocab", .is_switch = true, .field = "shared-vocab"},
  };
  fovea::OptionValues values;
  fovea::cli::add_config_file(folder().write("job.toml", bytes), options, values);
  const std::string shared = values.text("shared-vocab");
  if (!shared.empty() && shared != "true" && shared != "false") std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    switch (data[0] % 6) {
      case 0:
        read_file(bytes);
        break;
      case 1:
        read_file(packed(bytes));
        break;
      case 2:
        read_input(std::string(bytes));
        break;
      case 3:
        read_input(packed(bytes));
        break;
      case 4:
        find_pictures(bytes);
        break;
      default:
        read_config(bytes);
        break;
    }
  } catch (const fovea::Error&) {
  }
  return 0;
}
