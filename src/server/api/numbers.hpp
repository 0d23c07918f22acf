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

/// What a text's attention needs at most, as records and as JSON. Between the sentences of a matrix stand zeros, which
/// exist only as text.
class RecordBytes {
 public:
  /// Sentences that follow belong to another matrix than those before.
  void start_matrix() { rows_ = columns_ = 0; }
  /// A sentence: its part of the matrix is [queries, keys].
  void add(const std::vector<std::string>& queries, const std::vector<std::string>& keys) {
    constexpr std::size_t more_of_a_weight = sizeof(float) + 5;  // "0.1234,"
    rows_ += queries.size();
    columns_ += keys.size();
    total_ += more_of_a_weight * queries.size() * keys.size();
    for (const auto* list : {&queries, &keys}) {
      for (const std::string& token : *list) total_ += 3 + 6 * token.size();
    }
  }
  /// A sentence of which only the `count` largest weights of each query are listed, with their keys.
  void add_largest(const std::vector<std::string>& queries, const std::vector<std::string>& keys, std::size_t count) {
    constexpr std::size_t of_one = sizeof(float) + sizeof(std::int32_t) + 7 + 9;  // "0.1234," and "1234567,"
    listed_ += queries.size() * std::min(count, keys.size());
    total_ += of_one * queries.size() * std::min(count, keys.size()) + 8 * queries.size();
    for (const auto* list : {&queries, &keys}) {
      for (const std::string& token : *list) total_ += 3 + 6 * token.size();
    }
  }
  /// Returns how many numbers the matrix has.
  std::size_t end_matrix() {
    constexpr std::size_t of_zero = 2;  // "0,"
    total_ += of_zero * rows_ * columns_ + 3 * rows_;
    return rows_ * columns_ + std::exchange(listed_, 0);
  }
  [[nodiscard]] std::size_t total() const { return 4096 + total_; }

 private:
  std::size_t rows_ = 0, columns_ = 0, listed_ = 0, total_ = 0;
};

/// The same of sentences with one matrix, [target, source].
inline std::size_t record_bytes(std::span<const Translation* const> sentences) {
  RecordBytes bytes;
  bytes.start_matrix();
  for (const Translation* t : sentences) bytes.add(t->target_tokens, t->source_tokens);
  (void)bytes.end_matrix();
  return bytes.total();
}

}  // namespace fovea::server
