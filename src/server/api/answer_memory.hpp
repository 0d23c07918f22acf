// How many numbers an answer may hold, and the memory they take.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "fovea/translator.hpp"
#include "server/api/call.hpp"
#include "server/http/budget.hpp"
#include "view/numbers.hpp"

namespace fovea::server {

/// Sentences do not attend to each other, so most of a long text's attention is zeros; all of them are sent. Throws
/// Refusal when that is too many numbers.
inline void check_numbers(std::size_t count) {
  constexpr std::size_t most = 32'000'000;
  if (count > most) {
    throw Refusal(400, fmt::format("Invalid request: the attention has {} numbers, at most {} are sent: ask for fewer "
                                   "sentences at a time",
                                   count, most));
  }
}

/// Throws Refusal when the server holds too much already.
inline void take_memory(Lease& memory, std::size_t bytes) {
  if (!memory.grow(bytes)) throw Refusal(503, "Slowdown: too much attention is being written", 2);
}

/// What a text's attention needs as JSON at most. Between the sentences of a matrix stand zeros, which exist only as
/// text.
class RecordBytes {
 public:
  /// Sentences that follow belong to another matrix than those before.
  void start_matrix() {
    rows_ = columns_ = 0;
    total_ += 256;  // names of fields
  }
  /// A sentence: its part of the matrix is [queries, keys].
  void add(const std::vector<std::string>& queries, const std::vector<std::string>& keys) {
    constexpr std::size_t more_than_zero = 5;  // "0.1234,"
    rows_ += queries.size();
    columns_ += keys.size();
    total_ += more_than_zero * queries.size() * keys.size();
    add_tokens(queries);
    add_tokens(keys);
  }
  /// A sentence of which only the `count` largest weights of each query are listed, with their keys.
  void add_largest(const std::vector<std::string>& queries, const std::vector<std::string>& keys, std::size_t count) {
    constexpr std::size_t of_one = 7 + 9;  // "0.1234," and "12345678,"
    listed_ += queries.size() * std::min(count, keys.size());
    total_ += of_one * queries.size() * std::min(count, keys.size()) + 8 * queries.size();
    add_tokens(queries);
    add_tokens(keys);
  }
  /// Returns how many numbers the matrix has.
  std::size_t end_matrix() {
    constexpr std::size_t of_zero = 2;  // "0,"
    total_ += of_zero * rows_ * columns_ + 3 * rows_;
    return rows_ * columns_ + std::exchange(listed_, 0);
  }
  [[nodiscard]] std::size_t total() const { return 4096 + total_; }

 private:
  void add_tokens(const std::vector<std::string>& tokens) {
    for (const std::string& token : tokens) total_ += 3 + 6 * token.size();
  }
  std::size_t rows_ = 0, columns_ = 0, listed_ = 0, total_ = 0;
};

/// The same of sentences with one matrix, [target, source].
inline std::size_t json_bytes(std::span<const Translation* const> sentences) {
  RecordBytes bytes;
  bytes.start_matrix();
  for (const Translation* t : sentences) bytes.add(t->target_tokens, t->source_tokens);
  (void)bytes.end_matrix();
  return bytes.total();
}

inline std::size_t held_bytes(const std::vector<std::string>& strings) {
  constexpr std::size_t inside = 15;  // characters that need no memory of their own
  std::size_t bytes = strings.size() * sizeof(std::string);
  for (const std::string& one : strings) bytes += one.size() > inside ? one.size() + 32 : 0;
  return bytes;
}

/// What a record holds beside the text that is written of it.
inline std::size_t held_bytes(const AttentionRecord& record) {
  const auto of = [](const AttentionMatrix& all, const LargestWeights& largest) {
    return (all.values.size() + largest.weight.size()) * sizeof(float) + largest.index.size() * sizeof(std::int64_t);
  };
  std::size_t bytes = sizeof(record) + held_bytes(record.source) + held_bytes(record.target) +
                      of(record.weights, record.largest) + record.copied.size() * sizeof(float);
  for (const AttentionMap& map : record.maps) {
    bytes += sizeof(map) + held_bytes(map.queries) + held_bytes(map.keys) + of(map.weights, map.largest);
  }
  return bytes;
}

/// What a translation with its attention needs once more as a record.
inline std::size_t copy_bytes(const Translation& t) {
  return sizeof(AttentionRecord) + held_bytes(t.source_tokens) + held_bytes(t.target_tokens) +
         t.source_tokens.size() * t.target_tokens.size() * sizeof(float);
}

/// What the weights of a line's outputs hold at most: no output is longer than the search lets it be. `most`: tokens
/// of a line.
inline std::size_t most_attention_bytes(const std::string& line, std::size_t most, const TranslateOptions& how) {
  const std::size_t read = std::min(line.size() + 2, most);  // a token has at least a byte
  return how.attention ? static_cast<std::size_t>(how.n_best) * read * (2 * read + 20) * sizeof(float) : 0;
}

/// What they do hold.
inline std::size_t attention_bytes(std::span<const Translation> outputs) {
  std::size_t bytes = 0;
  for (const Translation& t : outputs) {
    for (const auto& row : t.attention) bytes += sizeof(row) + row.size() * sizeof(float);
  }
  return bytes;
}

}  // namespace fovea::server
