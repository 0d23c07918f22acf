#include "tasks/inspection/likeliest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "fovea/error.hpp"

namespace fovea {
namespace {

constexpr std::size_t kCandidates = 5;    // at each position
constexpr std::size_t kMostTokens = 512;  // of a run whose every number is kept

}  // namespace

std::vector<Candidate> likeliest(const float* row, std::int64_t count, std::int32_t chosen,
                                 const Tokenizer& tokenizer) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  const std::size_t most = std::min(kCandidates, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
                    [row](std::int32_t a, std::int32_t b) { return row[a] != row[b] ? row[a] > row[b] : a < b; });
  order.resize(most);
  if (std::find(order.begin(), order.end(), chosen) == order.end()) order.push_back(chosen);
  std::vector<Candidate> out;
  for (const std::int32_t id : order) {
    out.push_back({id == eos_id ? std::string("</s>") : tokenizer.piece(id), row[id]});
  }
  return out;
}

void check_explained(std::size_t tokens) {
  if (tokens <= kMostTokens) return;
  throw UsageError(fmt::format("explain: {} tokens; every number of a run is kept of at most {}", tokens, kMostTokens));
}

}  // namespace fovea
