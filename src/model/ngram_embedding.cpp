#include "model/ngram_embedding.hpp"

#include "base/rng.hpp"
#include "fovea/ops.hpp"

namespace fovea {
namespace {

// The row of the run of n tokens in whose middle (or just left of it) token t of a row stands; beyond the row's ends
// there is padding, 0. Part of the format: what a model has learned is found by it.
std::int32_t row_of(std::span<const std::int32_t> row, std::int64_t t, int n, std::int64_t rows) {
  std::uint64_t hash = static_cast<std::uint64_t>(n);
  for (std::int64_t i = t - (n - 1) / 2; i <= t + n / 2; ++i) {
    const bool inside = i >= 0 && i < static_cast<std::int64_t>(row.size());
    hash = mix64(hash ^ static_cast<std::uint64_t>(inside ? row[static_cast<std::size_t>(i)] : 0));
  }
  return static_cast<std::int32_t>(hash % static_cast<std::uint64_t>(rows));
}

}  // namespace

NgramEmbedding::NgramEmbedding(Parameters& p, const std::string& name, int longest, std::int64_t rows,
                               std::int64_t width)
    : longest_(longest) {
  if (longest > 1) table_ = p.get(name, {rows, width}, Init::zeros);
}

Var NgramEmbedding::add_to(const Var& x, const Tokens& tokens, float factor) const {
  Var sum = x;
  std::vector<std::int32_t, ArenaAllocator<std::int32_t>> rows(tokens.ids.size());
  for (int n = 2; n <= longest_; ++n) {
    for (std::int64_t b = 0; b < tokens.batch; ++b) {
      const auto row = tokens.ids.subspan(static_cast<std::size_t>(b * tokens.length),
                                          static_cast<std::size_t>(tokens.lengths[static_cast<std::size_t>(b)]));
      for (std::int64_t t = 0; t < tokens.length; ++t) {
        rows[static_cast<std::size_t>(b * tokens.length + t)] =
            t < static_cast<std::int64_t>(row.size()) ? row_of(row, t, n, table_.dim(0)) : 0;
      }
    }
    sum = add(sum, embedding(table_, rows, {tokens.batch, tokens.length}, factor));
  }
  return sum;
}

}  // namespace fovea
