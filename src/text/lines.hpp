// Lines of text from a plain or gzip-compressed file, checked before anyone trusts them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fovea::text {

/// Reads one line after the other. A line ends at \n; a \r before it and a byte order mark at the start of the file are
/// dropped; a last line without \n counts. Throws FileError naming the file, and the line where there is one, when the
/// file is missing, damaged (a cut .gz), not UTF-8, or holds a NUL, a line of more than 1 MiB or more than 16 GiB in
/// all, and when a .gz unpacks to more than 64 MiB and more than 100 times its size. A line counts 32 bytes for itself.
///
///     LineReader reader("train.en.gz");
///     for (std::string line; reader.next(line);) ...
class LineReader {
 public:
  /// How much a file's lines may hold in all: as much as fits into memory, or whatever there is, for those who keep
  /// none of them.
  enum class Limit { memory, none };
  explicit LineReader(std::string path, Limit limit = Limit::memory);
  ~LineReader();

  /// The next line into `line`; false at the end of the file.
  bool next(std::string& line);

  [[nodiscard]] std::int64_t line_number() const;  // of the line read last; the first is 1
  [[nodiscard]] std::string where() const;         // "path:line", for messages

 private:
  struct File;
  std::unique_ptr<File> file_;
};

/// All lines of a file.
[[nodiscard]] std::vector<std::string> read_lines(const std::string& path);

}  // namespace fovea::text
