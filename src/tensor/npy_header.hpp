// The header of a .npy file.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "fovea/shape.hpp"

namespace fovea::detail {

struct NpyHeader {
  std::string descr;     // NumPy's name of the type, such as "<f4"
  std::size_t item = 0;  // bytes per value
  Shape shape;
  std::size_t offset = 0;  // where the values begin
};

/// Reads the header and checks everything against the size of the file: what is left is exactly shape.size() values.
/// Throws FileError naming the file and the field.
[[nodiscard]] NpyHeader parse_npy_header(std::span<const std::byte> bytes, const std::string& name);

/// The bytes before the values, for one of the types above. A multiple of 64 long.
[[nodiscard]] std::string make_npy_header(const char* descr, const Shape& shape);

}  // namespace fovea::detail
