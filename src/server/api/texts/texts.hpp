// The texts of a request.
#pragma once

#include <string>
#include <vector>

#include "server/api/batching/batcher.hpp"
#include "server/http/fields.hpp"

namespace fovea::server {

/// The parameter q: a text or an array of texts.
struct Texts {
  std::vector<std::string> list;
  bool array = false;

  /// Throws Refusal 400 when it is missing or of another type.
  [[nodiscard]] static Texts read(const Fields& fields);
  /// Throws Refusal above the limits; -1: unlimited.
  void check(int most_texts, int most_characters) const;
};

/// Reserves memory for a request that waits for its model: `bytes` of text in several forms, and its results. Throws
/// Refusal 429 when the budget is used up.
void hold_request(Job& job, std::size_t bytes, std::size_t results);

}  // namespace fovea::server
