// .safetensors files: named tensors behind a JSON header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/npy.hpp"
#include "fovea/tensor.hpp"

namespace FOVEA_API fovea {

class WholeFile;

/// A .safetensors file, memory-mapped. Everything in the header is checked when the file is opened; a FileError names
/// the file and the field.
///
///     const Safetensors file("params.safetensors");
///     const Tensor w = file.tensor("W");
class Safetensors {
 public:
  /// One tensor as the header describes it.
  struct Entry {
    std::string name;       // unique
    std::string dtype;      // "F32", "I64", … as in the file
    Shape shape;            // any rank
    std::size_t begin = 0;  // in the bytes of the file
    std::size_t end = 0;    // past its last byte
  };

  /// Maps a file and checks its header. Throws FileError naming what is wrong.
  explicit Safetensors(const std::filesystem::path& path);
  /// The same on bytes in memory, which the caller keeps alive; errors call the file `name`.
  Safetensors(std::span<const std::byte> bytes, std::string name);

  /// Ordered by name.
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  /// Whether there is a tensor of this name.
  [[nodiscard]] bool contains(std::string_view name) const;
  /// Throws FileError for a missing name.
  [[nodiscard]] const Entry& entry(std::string_view name) const;
  /// F32, in place where it is aligned, or F64, F16 and BF16, converted. Writing to it does not change the file.
  [[nodiscard]] Tensor tensor(std::string_view name) const;
  /// I64, or I32, U8 and BOOL, converted.
  [[nodiscard]] IntegerArray integers(std::string_view name) const;
  /// I8, in place: valid as long as the file is open.
  [[nodiscard]] std::span<const std::int8_t> int8(std::string_view name) const;
  /// The bytes of a tensor of any type, in place: valid as long as the file is open.
  [[nodiscard]] std::span<const std::byte> bytes(std::string_view name) const;
  /// Releases the memory pages of a tensor; the file is read again when they are needed.
  void forget(std::string_view name) const;
  /// The header's `__metadata__`.
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& metadata() const { return metadata_; }

 private:
  void parse();

  std::shared_ptr<void> owner_;  // of the mapping; null when the caller owns the bytes
  std::span<std::byte> bytes_;
  std::string name_;
  std::vector<Entry> entries_;
  std::map<std::string, std::string, std::less<>> metadata_;
};

/// Collects tensors and writes them. Equal content gives equal bytes in any order of adding.
///
///     SafetensorsWriter writer;
///     writer.add("W", w);
///     writer.write("params.safetensors");
class SafetensorsWriter {
 public:
  /// Keeps a share of the tensor, not a copy. Throws UsageError when the name was used before or is not UTF-8.
  void add(const std::string& name, const Tensor& tensor);                                      // as F32
  void add(const std::string& name, const Shape& shape, std::span<const std::int64_t> values);  // as I64, copied
  void add(const std::string& name, const Shape& shape, std::span<const std::uint8_t> values);  // as U8, copied
  void add(const std::string& name, const Shape& shape, std::span<const std::int8_t> values);   // as I8, copied
  void add_f16(const std::string& name, const Tensor& tensor);                                  // as F16, rounded
  /// Puts a text into the header's `__metadata__`.
  void set_metadata(const std::string& key, const std::string& value);
  /// The file appears whole or not at all. Throws FileError.
  void write(const std::filesystem::path& path) const;

 private:
  friend void write_safetensors(WholeFile& file, const SafetensorsWriter& writer);

  struct Item {
    const char* dtype = "";
    Shape shape;
    Tensor tensor;                 // of F32
    std::vector<std::byte> bytes;  // of the others
  };
  Item& insert(const std::string& name, const char* dtype, const Shape& shape, std::size_t count);

  std::map<std::string, Item> items_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace fovea
