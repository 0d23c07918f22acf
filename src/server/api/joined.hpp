// Several sentences' attention as one.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "server/api/call.hpp"

namespace fovea::server {

using Matrix = std::vector<std::vector<float>>;

/// Appends `block` behind what `all` holds, as a block on the diagonal: a sentence looks only at itself.
inline void append_block(Matrix& all, const Matrix& block, std::size_t block_columns) {
  const std::size_t before = all.empty() ? 0 : all.front().size();
  for (auto& row : all) row.resize(before + block_columns, 0.0F);
  for (const auto& row : block) {
    std::vector<float> wide(before + block_columns, 0.0F);
    std::copy(row.begin(), row.end(), wide.begin() + static_cast<std::ptrdiff_t>(before));
    all.push_back(std::move(wide));
  }
}

/// Sentences do not look at each other, so most of a long text's attention is zeros; all of them are told. Throws
/// Refusal when that is too many numbers.
inline void check_numbers(std::size_t count) {
  constexpr std::size_t most = 32'000'000;
  if (count > most) {
    throw Refusal(400, fmt::format("Invalid request: the attention has {} numbers, at most {} are told: ask for fewer "
                                   "sentences at a time",
                                   count, most));
  }
}

/// The attention of a whole text.
struct Joined {
  std::vector<std::string> source, target;
  Matrix weights;

  void add(const std::vector<std::string>& s, const std::vector<std::string>& t, const Matrix& w) {
    append_block(weights, w, s.size());
    source.insert(source.end(), s.begin(), s.end());
    target.insert(target.end(), t.begin(), t.end());
  }
};

}  // namespace fovea::server
