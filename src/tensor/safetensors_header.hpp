// The JSON header of a .safetensors file.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/safetensors.hpp"

namespace fovea::detail {

struct SafetensorsHeader {
  std::vector<Safetensors::Entry> entries;  // ordered by name
  std::map<std::string, std::string, std::less<>> metadata;
};

/// Reads the header and checks it against the size of the file: every tensor's bytes fit its type and shape, and all
/// together cover what follows the header exactly once. Throws FileError naming the file, the tensor and the field.
[[nodiscard]] SafetensorsHeader parse_safetensors_header(std::span<const std::byte> bytes, const std::string& name);

/// Bytes per value of a type that the format knows, else 0.
[[nodiscard]] std::size_t safetensors_item(std::string_view dtype);

}  // namespace fovea::detail
