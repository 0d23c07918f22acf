// Files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace fovea {

/// Writes a temporary file next to the target, which commit() renames to the target: a reader sees the old file or the
/// new one, never a part. A file that was not committed is removed. Every failure is a FileError that names the target.
///
///     WholeFile file("model.safetensors");
///     file.write(header);
///     file.write(values);
///     file.commit();
class WholeFile {
 public:
  explicit WholeFile(const std::filesystem::path& target);
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// All bytes are on the disk when this returns, not yet under the name: of several files that must appear together,
  /// prepare each before the first is committed.
  void prepare();
  /// On the disk, under its name, when this returns.
  void commit();

 private:
  void flush();
  void put(const std::byte* bytes, std::size_t count);
  [[noreturn]] void fail(const char* what);
  void discard() noexcept;

  std::filesystem::path name_;       // as it was given, for errors
  std::filesystem::path target_;     // what it stands for: links are followed
  std::filesystem::path temporary_;  // empty when the target is a device or a pipe, which is written directly
  int descriptor_ = -1;
  std::string buffer_;
  bool prepared_ = false;
};

/// Removes what processes that were killed in the middle of writing whole files have left in a folder.
void remove_leftovers(const std::filesystem::path& folder);

/// All of `text` as the file `target`.
void write_whole_file(const std::filesystem::path& target, std::string_view text);

/// Several files, each with its text, that appear together or not at all. An empty name stands for no file.
void write_whole_files(std::initializer_list<std::pair<std::string_view, std::string_view>> files);

}  // namespace fovea
