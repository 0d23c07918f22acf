#include "text/word_vectors.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>

#include "base/mapped_file.hpp"
#include "fovea/error.hpp"
#include "text/lines.hpp"

namespace fovea::text {
namespace {

constexpr std::int64_t kWidest = 16384;

// "count width" and nothing else.
bool read_header(std::string_view line, std::int64_t& words, std::int64_t& width) {
  const char* end = line.data() + line.size();
  const auto first = std::from_chars(line.data(), end, words);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ' ') return false;
  const auto second = std::from_chars(first.ptr + 1, end, width);
  if (second.ec != std::errc()) return false;
  const auto rest = std::string_view(second.ptr, static_cast<std::size_t>(end - second.ptr));
  return rest.find_first_not_of(" \r") == std::string_view::npos && words >= 0 && width >= 1;
}

// Whether a file that begins with a header is binary: a text of numbers has neither NUL nor other controls.
bool is_binary(std::string_view bytes) {
  const std::size_t line = bytes.find('\n');
  std::int64_t words = 0;
  std::int64_t width = 0;
  if (line == std::string_view::npos || line > 64 || !read_header(bytes.substr(0, line), words, width)) return false;
  for (const char c : bytes.substr(line + 1, 4096)) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 && c != '\n' && c != '\r' && c != '\t') return true;
  }
  return false;
}

}  // namespace

std::string_view parse_vector_line(std::string_view line, const std::string& where, std::vector<float>& vector) {
  vector.clear();
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
  // A word may hold spaces ("New York" in GloVe's files): the numbers are counted from the end.
  const std::size_t space = line.find_first_of(" \t");
  if (space == 0 || space == std::string_view::npos) throw FileError(where + ": not a word and its vector");
  std::string_view rest = line.substr(space);
  std::size_t word_end = space;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
    float value = 0;
    const auto got = std::from_chars(rest.data(), rest.data() + end, value);
    if (got.ec != std::errc() || got.ptr != rest.data() + end || !std::isfinite(value)) {
      if (!vector.empty() && end > 0) {
        throw FileError(fmt::format("{}: number {} of the vector is \"{}\"", where, vector.size() + 1,
                                    std::string(rest.substr(0, std::min<std::size_t>(end, 20)))));
      }
      word_end = static_cast<std::size_t>(rest.data() + end - line.data());  // of the word still
    } else {
      vector.push_back(value);
    }
    rest.remove_prefix(end);
  }
  if (vector.empty()) throw FileError(where + ": not a word and its vector");
  return line.substr(0, word_end);
}

WordVectors read_binary_vectors(std::string_view bytes, const std::string& where,
                                const std::function<void(std::string_view, std::span<const float>)>& take) {
  WordVectors found;
  const std::size_t line = bytes.find('\n');
  if (line == std::string_view::npos || !read_header(bytes.substr(0, line), found.words, found.width)) {
    throw FileError(where + ": does not begin with the number of words and their width");
  }
  if (found.width > kWidest) {
    throw FileError(fmt::format("{}: vectors of {} numbers; at most {} are read", where, found.width, kWidest));
  }
  bytes.remove_prefix(line + 1);
  const std::size_t size = static_cast<std::size_t>(found.width) * sizeof(float);
  if (static_cast<std::uint64_t>(found.words) > bytes.size() / size) {
    throw FileError(fmt::format("{}: {} words of {} numbers do not fit into the {} bytes that follow", where,
                                found.words, found.width, bytes.size()));
  }
  std::vector<float> vector(static_cast<std::size_t>(found.width));
  for (std::int64_t i = 0; i < found.words; ++i) {
    while (!bytes.empty() && bytes.front() == '\n') bytes.remove_prefix(1);  // some writers end each vector with one
    const std::size_t space = bytes.find(' ');
    if (space == std::string_view::npos || space == 0 || space > 4096 || bytes.size() - space - 1 < size) {
      throw FileError(fmt::format("{}: ends within word {} of {}", where, i + 1, found.words));
    }
    std::memcpy(vector.data(), bytes.data() + space + 1, size);
    for (const float value : vector) {
      if (!std::isfinite(value)) throw FileError(fmt::format("{}: word {} has a number that is none", where, i + 1));
    }
    take(bytes.substr(0, space), vector);
    bytes.remove_prefix(space + 1 + size);
  }
  return found;
}

WordVectors read_word_vectors(const std::string& path,
                              const std::function<void(std::string_view, std::span<const float>)>& take) {
  if (!path.ends_with(".gz")) {
    const auto file = MappedFile::open(path);
    const std::string_view bytes(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
    if (is_binary(bytes)) return read_binary_vectors(bytes, path, take);
  }
  WordVectors found;
  LineReader reader(path);
  std::vector<float> vector;
  std::int64_t promised = -1;
  for (std::string line; reader.next(line);) {
    if (std::int64_t words = 0, width = 0; reader.line_number() == 1 && read_header(line, words, width)) {
      promised = words;
      found.width = width;
      continue;
    }
    const std::string_view word = parse_vector_line(line, reader.where(), vector);
    const auto width = static_cast<std::int64_t>(vector.size());
    if (found.width == 0) found.width = width;
    if (width != found.width) {
      throw FileError(fmt::format("{}: the vector has {} numbers, not {}", reader.where(), width, found.width));
    }
    ++found.words;
    take(word, vector);
  }
  if (found.words == 0) throw FileError(path + ": holds no vectors");
  if (promised >= 0 && promised != found.words) {
    throw FileError(fmt::format("{}: its first line says {} words, {} are there", path, promised, found.words));
  }
  return found;
}

}  // namespace fovea::text
