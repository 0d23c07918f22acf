#include "text/ngrams.hpp"

#include <gtest/gtest.h>

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

// The formula from nothing but the sequences. A run's count is how often it stood there if it has `order` tokens or
// begins with 0, else the number of different tokens it stood after.
double by_hand(const std::vector<Sequence>& told, const Sequence& before, std::int32_t token, std::size_t order,
               double discount) {
  const auto count = [&](const Sequence& run) {
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
  };
  double p = 1.0 / kTokens;
  for (std::size_t length = 0; length < order && length <= before.size(); ++length) {
    const Sequence history(before.end() - static_cast<std::ptrdiff_t>(length), before.end());
    double total = 0;
    double followers = 0;
    double own = 0;
    for (std::int32_t next = 1; next < kTokens; ++next) {
      Sequence run = history;
      run.push_back(next);
      const double c = count(run);
      total += c;
      followers += c > 0;
      if (next == token) own = c;
    }
    if (total == 0) break;
    p = (std::max(own - discount, 0.0) + discount * followers * p) / total;
  }
  return p;
}

TEST(Ngrams, FollowTheFormula) {
  const auto told = sequences(30, 3);
  for (const std::size_t order : {1U, 2U, 3U, 5U}) {
    Ngrams model(order, 0.7);
    for (const Sequence& s : told) model.remember(s);
    for (const Sequence& s : sequences(20, 4)) {
      const Ngrams::Context context(model, s);
      for (std::int32_t token = 1; token < kTokens; ++token) {
        EXPECT_NEAR(context.probability(token, kTokens), by_hand(told, s, token, order, 0.7), 1e-12) << order;
      }
    }
  }
}

TEST(Ngrams, ProbabilitiesSumToOneWhateverIsKnown) {
  Ngrams model(4, 0.8);
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
  EXPECT_THROW(Ngrams(3, 0), UsageError);
  EXPECT_THROW(Ngrams(3, 1), UsageError);
}

}  // namespace
}  // namespace fovea::text
