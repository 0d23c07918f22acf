// Limits on the size of an answer with attention, and the memory it takes to write.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "fovea/translator.hpp"
#include "server/api/call.hpp"
#include "server/http/memory_budget.hpp"

namespace fovea::server {

/// Limits the numbers of a text's attention matrix. Sentences do not attend to each other, so most of a long text's
/// matrix is zeros, and all of them are sent. Throws Refusal above the limit.
inline void check_numbers(std::size_t count) {
  constexpr std::size_t most = 32'000'000;
  if (count > most) {
    throw Refusal(400, fmt::format("Invalid request: the attention has {} numbers, at most {} are sent: ask for fewer "
                                   "sentences at a time",
                                   count, most));
  }
}

/// Throws Refusal when the memory budget is used up.
inline void take_memory(MemoryReservation& memory, std::size_t bytes) {
  if (!memory.grow(bytes)) throw Refusal(503, "Slowdown: too much attention is being written", 2);
}

/// An upper bound of the JSON text of a text's attention. The zeros between the sentences of a matrix exist only in
/// the text.
class AttentionJsonSize {
 public:
  /// The sentences added next belong to a new matrix.
  void start_matrix() {
    rows_ = columns_ = 0;
    total_ += 256;  // names of fields
  }
  /// Adds a sentence, whose block of the matrix is [queries, keys].
  void add(const std::vector<std::string>& queries, const std::vector<std::string>& keys) {
    constexpr std::size_t more_than_zero = 5;  // "0.1234,"
    rows_ += queries.size();
    columns_ += keys.size();
    total_ += more_than_zero * queries.size() * keys.size();
    add_tokens(queries);
    add_tokens(keys);
  }
  /// Adds a sentence that lists only the `count` largest weights of each query, with their keys.
  void add_largest(const std::vector<std::string>& queries, const std::vector<std::string>& keys, std::size_t count) {
    constexpr std::size_t per_weight = 7 + 9;  // "0.1234," and "12345678,"
    listed_ += queries.size() * std::min(count, keys.size());
    total_ += per_weight * queries.size() * std::min(count, keys.size()) + 8 * queries.size();
    add_tokens(queries);
    add_tokens(keys);
  }
  /// Returns how many numbers the matrix has.
  std::size_t end_matrix() {
    constexpr std::size_t per_zero = 2;  // "0,"
    total_ += per_zero * rows_ * columns_ + 3 * rows_;
    return rows_ * columns_ + std::exchange(listed_, 0);
  }
  [[nodiscard]] std::size_t total() const { return 4096 + total_; }

 private:
  void add_tokens(const std::vector<std::string>& tokens) {
    for (const std::string& token : tokens) total_ += 3 + 6 * token.size();
  }
  std::size_t rows_ = 0, columns_ = 0, listed_ = 0, total_ = 0;
};

/// The same for sentences with one matrix, [target, source].
inline std::size_t attention_json_size(std::span<const AttentionRecord> sentences) {
  AttentionJsonSize size;
  size.start_matrix();
  for (const AttentionRecord& one : sentences) size.add(one.target, one.source);
  (void)size.end_matrix();
  return size.total();
}

/// An upper bound of the weights of a line's outputs in bytes: the search limits the length of an output.
/// `most`: tokens of a line.
inline std::size_t most_attention_bytes(const std::string& line, std::size_t most, const GenerateOptions& how) {
  const std::size_t read = std::min(line.size() + 2, most);  // a token has at least a byte
  const auto asked = static_cast<std::size_t>(std::max(how.max_length.value_or(0), how.min_length));
  const std::size_t written = std::max(asked, 2 * read + 20) + 1;
  return how.attention ? static_cast<std::size_t>(how.n_best) * read * written * sizeof(float) : 0;
}

}  // namespace fovea::server
