// Any bytes as a file of word vectors (the first byte chooses binary or a line of text): vectors of one width, or an
// Error.
#include <cmath>
#include <cstdlib>

#include "fovea/error.hpp"
#include "text/word_vectors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  try {
    if (data[0] % 2 == 0) {
      std::size_t width = 0;
      fovea::text::read_binary_vectors(bytes, "bytes", [&](std::string_view word, std::span<const float> vector) {
        if (word.empty() || vector.empty() || (width != 0 && vector.size() != width)) std::abort();
        width = vector.size();
      });
    } else {
      std::vector<float> vector;
      const std::string_view word = fovea::text::parse_vector_line(bytes, "line", vector);
      if (word.empty() || vector.empty()) std::abort();
      for (const float value : vector) {
        if (!std::isfinite(value)) std::abort();
      }
    }
  } catch (const fovea::Error&) {
  }
  return 0;
}
