// NumPy's .npy files: little-endian, C order, format versions 1 to 3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/shape.hpp"
#include "fovea/tensor.hpp"

namespace FOVEA_API fovea {

/// Whole numbers with a shape, as .npy and .safetensors hold them.
struct IntegerArray {
  Shape shape;                       // of the array
  std::vector<std::int64_t> values;  // in row-major order
};

/// Truth values with a shape, a byte each.
struct TruthArray {
  Shape shape;                                 // of the array
  std::shared_ptr<const std::uint8_t> values;  // in row-major order; not 0 is true
};

/// Reads float32 (memory-mapped: pages are read when they are used) or float64 (converted). Throws FileError naming
/// the file and the field at fault.
///
///     const Tensor query = read_npy("query.npy");
[[nodiscard]] Tensor read_npy(const std::filesystem::path& path);

/// Reads int64, or int32, uint8 and bool, converted.
[[nodiscard]] IntegerArray read_npy_integers(const std::filesystem::path& path);

/// Reads bool and uint8 (memory-mapped: one byte of memory for each that is used), or int32 and int64, converted.
[[nodiscard]] TruthArray read_npy_truths(const std::filesystem::path& path);

/// Writes float32. The file appears whole or not at all.
void write_npy(const std::filesystem::path& path, const Tensor& tensor);

/// Writes int64. Throws ShapeError unless there are exactly shape.size() values.
void write_npy(const std::filesystem::path& path, const Shape& shape, std::span<const std::int64_t> values);

/// read_npy() on bytes in memory; errors begin with `name`.
[[nodiscard]] Tensor parse_npy(std::span<const std::byte> bytes, const std::string& name);
/// read_npy_integers() on bytes in memory.
[[nodiscard]] IntegerArray parse_npy_integers(std::span<const std::byte> bytes, const std::string& name);

}  // namespace fovea
