#include "fovea/generated.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/heap_bytes.hpp"

namespace fovea {

std::size_t heap_bytes(const Generated& output) {
  return heap_bytes(output.text) + heap_bytes(output.continuation) + heap_bytes(output.ids) +
         heap_bytes(output.copied) + heap_bytes(output.attention) + heap_bytes(output.error);
}

std::size_t heap_bytes(const GenerationTrace& trace) {
  return heap_bytes(trace.output) + heap_bytes(trace.beam.nodes) + heap_bytes(trace.beam.best) +
         heap_bytes(trace.beam_tokens);
}

std::string alignment_text(const AttentionRecord& record) {
  std::string out;
  // The last row, and the last column where the model reads it, are the ends of sequence: they align with nothing.
  const std::int64_t columns =
      record.weights.columns - (!record.source.empty() && record.source.back() == "</s>" ? 1 : 0);
  if (columns <= 0) return out;
  for (std::int64_t t = 0; t + 1 < record.weights.rows; ++t) {
    const float* row = record.weights.values.data() + t * record.weights.columns;
    out += fmt::format("{}{}-{}", out.empty() ? "" : " ", std::max_element(row, row + columns) - row, t);
  }
  return out;
}

}  // namespace fovea
