// How many numbers an answer may hold, and the memory they take.
#pragma once

#include <fmt/format.h>

#include <span>

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

/// What a text's attention needs at most, as records and as JSON: `matrices` of [target, source], each with its tokens.
/// Between the sentences stand zeros, which exist only as text.
inline std::size_t record_bytes(std::span<const Translation* const> sentences, std::size_t matrices) {
  std::size_t source = 0;
  std::size_t target = 0;
  std::size_t inside = 0;
  std::size_t tokens = 0;
  for (const Translation* t : sentences) {
    source += t->source_tokens.size();
    target += t->target_tokens.size();
    inside += t->source_tokens.size() * t->target_tokens.size();
    for (const auto* list : {&t->source_tokens, &t->target_tokens}) {
      for (const std::string& token : *list) tokens += 3 + 6 * token.size();
    }
  }
  constexpr std::size_t of_zero = 2, more_of_a_weight = sizeof(float) + 5;  // "0,", "0.1234,"
  return 4096 + matrices * (of_zero * source * target + more_of_a_weight * inside + 3 * target + tokens);
}

}  // namespace fovea::server
