#include "text/lines.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "fovea/error.hpp"
#include "text/unicode.hpp"

namespace fovea::text {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20;
constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 30;  // of a file's lines
// Text becomes some 3 to 20 times smaller; a file that unpacks to far more was made to fill the reader's memory.
constexpr std::uint64_t kMostUnpacked = 100;
constexpr std::uint64_t kAlwaysUnpacked = std::uint64_t{64} << 20;

}  // namespace

struct LineReader::File {
  std::string path;
  gzFile handle = nullptr;  // zlib passes files that are not gzip through as they are
  std::array<char, 1 << 16> buffer;
  std::size_t begin = 0;
  std::size_t end = 0;
  bool at_end = false;
  Limit limit = Limit::memory;
  std::int64_t line = 0;
  std::uint64_t bytes = 0;  // read so far, and 32 for each line

  ~File() {
    if (handle != nullptr) gzclose(handle);
  }

  [[noreturn]] void fail(const std::string& what) const { throw FileError(path + ": " + what); }

  void check_size() const {
    if (bytes > kMostBytes && limit == Limit::memory) fail("holds more than 16 GiB of lines; split it");
    if (bytes <= kAlwaysUnpacked || gzdirect(handle) != 0) return;
    const auto packed = static_cast<std::uint64_t>(std::max<z_off_t>(1, gzoffset(handle)));
    if (bytes / kMostUnpacked <= packed) return;
    fail("unpacks to more than 100 times its size; if it may be trusted, unpack it first");
  }

  bool fill() {
    if (at_end) return false;
    const int got = gzread(handle, buffer.data(), static_cast<unsigned>(buffer.size()));
    int code = Z_OK;
    const char* message = gzerror(handle, &code);
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
      // Z_BUF_ERROR is what zlib says of a compressed file that stops in the middle.
      if (code == Z_ERRNO) fail(std::string("cannot be read: ") + std::strerror(errno));
      fail(code == Z_BUF_ERROR ? "the gzip data is cut short" : std::string("damaged gzip data: ") + message);
    }
    begin = 0;
    end = static_cast<std::size_t>(got);
    at_end = got == 0;
    return got > 0;
  }
};

LineReader::LineReader(std::string path, Limit limit) : file_(std::make_unique<File>()) {
  file_->limit = limit;
  file_->path = std::move(path);
  errno = 0;
  file_->handle = gzopen(file_->path.c_str(), "rb");
  if (file_->handle == nullptr) {
    file_->fail(errno == 0 ? "cannot be opened: out of memory"
                           : std::string("cannot be opened: ") + std::strerror(errno));
  }
  gzbuffer(file_->handle, 1 << 16);
}

LineReader::~LineReader() = default;

bool LineReader::next(std::string& line) {
  File& f = *file_;
  line.clear();
  bool any = false;  // a last line without \n is a line
  while (f.begin < f.end || f.fill()) {
    any = true;
    const char* from = f.buffer.data() + f.begin;
    const auto* newline = static_cast<const char*>(std::memchr(from, '\n', f.end - f.begin));
    const std::size_t count = newline != nullptr ? static_cast<std::size_t>(newline - from) : f.end - f.begin;
    if (line.size() + count > kLongestLine) {
      f.fail("line " + std::to_string(f.line + 1) + " is longer than 1 MiB; is this a text file?");
    }
    line.append(from, count);
    f.begin += count;
    if (newline != nullptr) {
      ++f.begin;
      break;
    }
  }
  if (!any) return false;
  ++f.line;
  f.bytes += line.size() + sizeof(std::string);
  f.check_size();
  if (f.line == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
  if (line.ends_with('\r')) line.pop_back();
  if (const std::size_t bad = invalid_utf8(line); bad != std::string::npos) {
    throw FileError(where() + ": not UTF-8 at byte " + std::to_string(bad + 1) + " of the line");
  }
  if (const std::size_t nul = line.find('\0'); nul != std::string::npos) {
    throw FileError(where() + ": a NUL at byte " + std::to_string(nul + 1) + " of the line; is this a text file?");
  }
  return true;
}

std::int64_t LineReader::line_number() const {
  return file_->line;
}
std::string LineReader::where() const {
  return file_->path + ":" + std::to_string(file_->line);
}

std::vector<std::string> read_lines(const std::string& path) {
  LineReader reader(path);
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) lines.push_back(line);
  return lines;
}

}  // namespace fovea::text
