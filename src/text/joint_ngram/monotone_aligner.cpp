#include "text/joint_ngram/monotone_aligner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/rng.hpp"
#include "fovea/error.hpp"

namespace fovea::text {
namespace {

constexpr std::size_t kChoices = MonotoneAligner::kMost + 1;

// A source token and the target tokens it takes, as one number.
std::uint64_t key(std::int32_t source, const std::int32_t* target, std::size_t count) {
  std::uint64_t hash = mix64((static_cast<std::uint64_t>(source) << 2) | count);
  for (std::size_t k = 0; k < count; ++k) hash = mix64(hash ^ static_cast<std::uint64_t>(target[k]));
  return hash;
}

bool can_align(const MonotoneAligner::Pair& pair) {
  const std::size_t rows = pair.source.size();
  const std::size_t columns = pair.target.size();
  return rows > 0 && columns > 0 && std::max(rows, columns) <= MonotoneAligner::kLongest &&
         columns <= MonotoneAligner::kMost * rows;
}

// For a pair of lengths R and C: cell (i, j) is "i source tokens have taken j target tokens". step[i][j][n] is the
// probability that source token i takes the n target tokens from j on.
struct Lattice {
  std::size_t rows = 0, columns = 0;
  std::vector<double> step, from_start, to_end;

  template <class Probability>
  void fill(const MonotoneAligner::Pair& pair, const Probability& probability) {
    rows = pair.source.size();
    columns = pair.target.size();
    step.assign(rows * (columns + 1) * kChoices, 0.0);
    for (std::size_t i = 0; i < rows; ++i) {
      // What the tokens before can have taken, and leave enough for those after to take it all.
      const std::size_t after = MonotoneAligner::kMost * (rows - i);
      const std::size_t first = columns > after ? columns - after : 0;
      for (std::size_t j = first; j <= std::min(columns, MonotoneAligner::kMost * i); ++j) {
        for (std::size_t n = 0; n < kChoices && j + n <= columns; ++n) at(i, j, n) = probability(pair, i, j, n);
      }
    }
  }
  [[nodiscard]] double& at(std::size_t i, std::size_t j, std::size_t n) {
    return step[(i * (columns + 1) + j) * kChoices + n];
  }
  [[nodiscard]] std::size_t cell(std::size_t i, std::size_t j) const { return i * (columns + 1) + j; }

  // Sums over all ways from the start to each cell and from each cell to the end; the sum over whole alignments.
  double sum() {
    from_start.assign((rows + 1) * (columns + 1), 0.0);
    to_end.assign(from_start.size(), 0.0);
    from_start[0] = 1;
    to_end.back() = 1;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j <= columns; ++j) {
        for (std::size_t n = 0; n < kChoices && j + n <= columns; ++n) {
          from_start[cell(i + 1, j + n)] += from_start[cell(i, j)] * at(i, j, n);
        }
      }
    }
    for (std::size_t i = rows; i-- > 0;) {
      for (std::size_t j = 0; j <= columns; ++j) {
        for (std::size_t n = 0; n < kChoices && j + n <= columns; ++n) {
          to_end[cell(i, j)] += at(i, j, n) * to_end[cell(i + 1, j + n)];
        }
      }
    }
    return from_start.back();
  }
};

}  // namespace

MonotoneAligner::MonotoneAligner(std::span<const Pair> pairs, int rounds, std::size_t most_units) {
  constexpr std::array<double, kChoices> kAtFirst{0.3, 0.6, 0.1};
  constexpr double kTooSmall = 1e-290;  // of a line's probability: one divided by it would be no number
  struct Count {
    std::int32_t source;
    double expected;
  };
  Lattice lattice;
  for (int round = 0; round < rounds; ++round) {
    std::unordered_map<std::uint64_t, Count> counts;
    std::unordered_map<std::int32_t, double> totals;
    for (const Pair& pair : pairs) {
      if (!can_align(pair)) continue;
      lattice.fill(pair, [&](const Pair& p, std::size_t i, std::size_t j, std::size_t n) {
        return round == 0 ? kAtFirst[n] : probability(p, i, j, n);
      });
      const double whole = lattice.sum();
      if (!(whole > kTooSmall)) continue;
      for (std::size_t i = 0; i < lattice.rows; ++i) {
        for (std::size_t j = 0; j <= lattice.columns; ++j) {
          const double before = lattice.from_start[lattice.cell(i, j)] / whole;
          if (before == 0) continue;
          for (std::size_t n = 0; n < kChoices && j + n <= lattice.columns; ++n) {
            const double share = before * lattice.at(i, j, n) * lattice.to_end[lattice.cell(i + 1, j + n)];
            if (share < 1e-6) continue;
            auto& count = counts[key(pair.source[i], pair.target.data() + j, n)];
            count.source = pair.source[i];
            count.expected += share;
            totals[pair.source[i]] += share;
          }
        }
      }
      if (counts.size() > most_units) {
        throw UsageError(fmt::format(
            "joint n-gram model: more than {} things that the {} source tokens may stand for; the memory is for pairs "
            "of few different tokens, such as letters and sounds",
            most_units, totals.size()));
      }
    }
    // All of them: what only one line has looks like chance until the rest of that line is understood.
    probability_.clear();
    for (const auto& [what, count] : counts) probability_[what] = count.expected / totals[count.source];
  }
}

double MonotoneAligner::probability(const Pair& pair, std::size_t i, std::size_t j, std::size_t n) const {
  const auto found = probability_.find(key(pair.source[i], pair.target.data() + j, n));
  return found == probability_.end() ? 0.0 : found->second;
}

std::vector<std::size_t> MonotoneAligner::align(const Pair& pair) const {
  if (!can_align(pair)) return {};
  Lattice lattice;
  lattice.fill(pair,
               [&](const Pair& p, std::size_t i, std::size_t j, std::size_t n) { return probability(p, i, j, n); });
  // The best way to each cell, as the logarithm of its probability.
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  std::vector<double> best((lattice.rows + 1) * (lattice.columns + 1), kNever);
  std::vector<std::size_t> taken(best.size(), 0);
  best[0] = 0;
  for (std::size_t i = 0; i < lattice.rows; ++i) {
    for (std::size_t j = 0; j <= lattice.columns; ++j) {
      const double here = best[lattice.cell(i, j)];
      for (std::size_t n = 0; here > kNever && n < kChoices && j + n <= lattice.columns; ++n) {
        if (!(lattice.at(i, j, n) > 0)) continue;
        const double there = here + std::log(lattice.at(i, j, n));
        const std::size_t cell = lattice.cell(i + 1, j + n);
        if (there > best[cell]) {
          best[cell] = there;
          taken[cell] = n;
        }
      }
    }
  }
  if (!(best.back() > kNever)) return {};
  std::vector<std::size_t> alignment(lattice.rows);
  for (std::size_t i = lattice.rows, j = lattice.columns; i-- > 0; j -= alignment[i]) {
    alignment[i] = taken[lattice.cell(i + 1, j)];
  }
  return alignment;
}

}  // namespace fovea::text
