// Any bytes as a .npy file: a value or a FileError, never anything else.
#include "fovea/npy.hpp"

#include <cstdlib>

#include "fovea/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const fovea::Tensor tensor = fovea::parse_npy(bytes, "fuzz.npy");
    if (static_cast<std::size_t>(tensor.size()) * sizeof(float) > size) std::abort();
  } catch (const fovea::FileError&) {
  }
  try {
    const fovea::IntegerArray array = fovea::parse_npy_integers(bytes, "fuzz.npy");
    if (array.values.size() > size || static_cast<std::int64_t>(array.values.size()) != array.shape.size())
      std::abort();
  } catch (const fovea::FileError&) {
  }
  return 0;
}
