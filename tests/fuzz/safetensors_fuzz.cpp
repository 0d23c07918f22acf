// Any bytes as a .safetensors file: tensors that cover its values once, or a FileError, never anything else.
#include "fovea/safetensors.hpp"

#include <cstdlib>

#include "fovea/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const fovea::Safetensors file(std::as_bytes(std::span(data, size)), "fuzz.safetensors");
    std::size_t covered = 0;
    for (const auto& entry : file.entries()) {
      if (entry.end > size || !file.contains(entry.name)) std::abort();
      covered += entry.end - entry.begin;
      try {
        (void)file.tensor(entry.name);
      } catch (const fovea::FileError&) {  // not a float type
      }
      try {
        (void)file.integers(entry.name);
      } catch (const fovea::FileError&) {  // not a whole type
      }
      try {
        if (file.int8(entry.name).size() != entry.end - entry.begin) std::abort();
      } catch (const fovea::FileError&) {  // not int8
      }
    }
    if (covered > size) std::abort();
  } catch (const fovea::FileError&) {
  }
  return 0;
}
