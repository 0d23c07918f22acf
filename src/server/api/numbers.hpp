// How many numbers an answer may hold.
#pragma once

#include <fmt/format.h>

#include "server/api/call.hpp"
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

}  // namespace fovea::server
