#include "text/joint_ngram/ngrams.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/rng.hpp"
#include "fovea/error.hpp"

namespace fovea::text {
namespace {

using Sequence = std::vector<std::int32_t>;
constexpr std::int32_t kTokens = 5;  // 0, which begins every sequence, and four others

std::vector<Sequence> sequences(std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Sequence> all(count);
  for (Sequence& s : all) {
    s.push_back(0);
    for (std::uint64_t n = 1 + rng.below(8); n > 0; --n) {
      s.push_back(1 + static_cast<std::int32_t>(std::min(rng.below(4), rng.below(4))));
    }
  }
  return all;
}

// A run's count is how often it stood there if it has `order` tokens or begins with 0, else the number of different
// tokens it stood after.
double count_by_hand(const std::vector<Sequence>& told, const Sequence& run, std::size_t order) {
  double often = 0;
  std::set<std::int32_t> after;
  for (const Sequence& s : told) {
    for (std::size_t i = 0; i + run.size() <= s.size(); ++i) {
      if (i + run.size() == 1) continue;  // the beginning itself is not predicted
      if (!std::equal(run.begin(), run.end(), s.begin() + static_cast<std::ptrdiff_t>(i))) continue;
      ++often;
      if (i > 0) after.insert(s[i - 1]);
    }
  }
  return run.size() == order || run[0] == 0 ? often : static_cast<double>(after.size());
}

// What is taken from a count of 1, 2, 3 or more of runs of `length` tokens.
std::vector<double> discounts_by_hand(const std::vector<Sequence>& told, std::size_t length, std::size_t order) {
  std::set<Sequence> runs;
  for (const Sequence& s : told) {
    for (std::size_t i = 0; i + length <= s.size(); ++i) {
      const auto from = s.begin() + static_cast<std::ptrdiff_t>(i);
      if (i + length > 1) runs.insert(Sequence(from, from + static_cast<std::ptrdiff_t>(length)));
    }
  }
  std::map<double, double> n;
  for (const Sequence& run : runs) n[count_by_hand(told, run, order)] += 1;
  std::vector<double> all{0};
  for (double k = 1; k <= 3; ++k) {
    const double d = n[1] > 0 && n[k] > 0 ? k - (k + 1) * n[k + 1] / n[k] * n[1] / (n[1] + 2 * n[2]) : 0.0;
    all.push_back(d > 0 && d < k ? d : 0.8);
  }
  return all;
}

// The formula from nothing but the sequences.
double by_hand(const std::vector<Sequence>& told, const Sequence& before, std::int32_t token, std::size_t order,
               const std::vector<std::vector<double>>& discounts) {
  double p = 1.0 / kTokens;
  for (std::size_t length = 0; length < order && length <= before.size(); ++length) {
    const Sequence history(before.end() - static_cast<std::ptrdiff_t>(length), before.end());
    double total = 0;
    double shared = 0;
    double own = 0;
    for (std::int32_t next = 1; next < kTokens; ++next) {
      Sequence run = history;
      run.push_back(next);
      const double c = count_by_hand(told, run, order);
      const double d = discounts[length][static_cast<std::size_t>(std::min(c, 3.0))];
      total += c;
      shared += d;
      if (next == token) own = c - d;
    }
    if (total == 0) break;
    p = (own + shared * p) / total;
  }
  return p;
}

TEST(Ngrams, FollowTheFormula) {
  for (const std::size_t lines : {4U, 30U, 200U}) {
    const auto told = sequences(lines, 3);
    for (const std::size_t order : {1U, 2U, 3U, 5U}) {
      Ngrams model(order);
      for (const Sequence& s : told) model.remember(s);
      std::vector<std::vector<double>> discounts;
      for (std::size_t length = 1; length <= order; ++length) {
        discounts.push_back(discounts_by_hand(told, length, order));
      }
      for (const Sequence& s : sequences(20, 4)) {
        const Ngrams::Context context(model, s);
        for (std::int32_t token = 1; token < kTokens; ++token) {
          EXPECT_NEAR(context.probability(token, kTokens), by_hand(told, s, token, order, discounts), 1e-12)
              << lines << " lines, order " << order;
        }
      }
    }
  }
}

TEST(Ngrams, ProbabilitiesSumToOneWhateverIsKnown) {
  Ngrams model(4);
  const auto sum = [&](const Sequence& before) {
    const Ngrams::Context context(model, before);
    double p = 0;
    for (std::int32_t token = 0; token < kTokens; ++token) p += context.probability(token, kTokens);
    return p;
  };
  EXPECT_NEAR(sum({0}), 1, 1e-12);
  for (const Sequence& s : sequences(100, 7)) model.remember(s);
  for (const Sequence& s : sequences(20, 8)) EXPECT_NEAR(sum(s), 1, 1e-12);
  EXPECT_NEAR(sum({0, 99, 3}), 1, 1e-12);
}

TEST(Ngrams, OptionsOutOfRangeAreRefused) {
  EXPECT_THROW(Ngrams(0), UsageError);
  EXPECT_THROW(Ngrams(Ngrams::kMostOrder + 1), UsageError);
}

}  // namespace
}  // namespace fovea::text
