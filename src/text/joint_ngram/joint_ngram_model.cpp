#include "text/joint_ngram/joint_ngram_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "fovea/error.hpp"
#include "text/unicode.hpp"

namespace fovea::text {
namespace {

constexpr std::int32_t kUnknown = -1;         // a token or a unit that was never seen
constexpr std::int32_t kBegin = 0, kEnd = 1;  // units
constexpr double kFar = 12;                   // a reading e^12 times less likely than the best is not followed

JointNgramOptions checked(const JointNgramOptions& how) {
  if (how.order < 1 || how.order > Ngrams::kMostOrder) {
    throw UsageError(fmt::format("joint n-gram model: order {} is not from 1 to {}", how.order, Ngrams::kMostOrder));
  }
  if (how.beam < 1) throw UsageError("joint n-gram model: a beam of 0");
  return how;
}

// The numbers of a line's tokens, new ones in the order of their first use.
Ids number(std::string_view line, std::unordered_map<std::string, std::int32_t>& known) {
  Ids ids;
  for (const std::string_view token : split_words(line)) {
    ids.push_back(known.emplace(token, static_cast<std::int32_t>(known.size())).first->second);
  }
  return ids;
}

Ids numbers_of(std::string_view line, const std::unordered_map<std::string, std::int32_t>& known) {
  Ids ids;
  for (const std::string_view token : split_words(line)) {
    const auto found = known.find(std::string(token));
    ids.push_back(found == known.end() ? kUnknown : found->second);
  }
  return ids;
}

// The beginning of a pair, read.
struct Reading {
  double score = 0;       // log-probability
  Ids units;              // the last ones, as many as the next depends on
  std::size_t taken = 0;  // target tokens they stand for
};

// One more unit for a reading.
struct Step {
  double cost = 0;  // -log-probability
  std::size_t from = 0;
  std::int32_t unit = 0;
  std::size_t taken = 0;
  bool operator<(const Step& other) const {
    return std::tie(cost, from, unit, taken) < std::tie(other.cost, other.from, other.unit, other.taken);
  }
};

}  // namespace

JointNgramModel::JointNgramModel(std::span<const std::string> sources, std::span<const std::string> targets,
                                 const JointNgramOptions& how)
    : how_(checked(how)), ngrams_(how.order), units_(2) {
  if (sources.size() != targets.size()) {
    throw UsageError(fmt::format("joint n-gram model: {} sources and {} targets", sources.size(), targets.size()));
  }
  std::vector<MonotoneAligner::Pair> pairs(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    pairs[i] = {number(sources[i], sources_), number(targets[i], targets_)};
  }
  units_of_.resize(sources_.size());
  const MonotoneAligner aligner(pairs);
  std::map<std::pair<std::int32_t, Ids>, std::int32_t> known;
  for (const auto& pair : pairs) {
    const auto alignment = aligner.align(pair);
    if (alignment.empty()) continue;
    Ids units{kBegin};
    auto taken = pair.target.begin();
    for (std::size_t i = 0; i < alignment.size(); ++i) {
      const auto end = taken + static_cast<std::ptrdiff_t>(alignment[i]);
      const auto next = static_cast<std::int32_t>(units_.size());
      const auto [at, is_new] = known.try_emplace({pair.source[i], Ids(taken, end)}, next);
      if (is_new) {
        units_.push_back({pair.source[i], Ids(taken, end)});
        units_of_[static_cast<std::size_t>(pair.source[i])].push_back(next);
      }
      units.push_back(at->second);
      taken = end;
    }
    units.push_back(kEnd);
    ngrams_.remember(units);
    ++remembered_;
  }
}

// From left to right, keeping the likeliest readings of what was read. Any token may also be an unknown unit, which
// stands for whatever comes.
double JointNgramModel::log_probability(std::string_view source, std::string_view target) const {
  const Ids line = numbers_of(source, sources_);
  const Ids wanted = numbers_of(target, targets_);
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  if (line.empty() || wanted.empty()) return kNever;
  std::vector<Reading> readings{{0.0, {kBegin}, 0}};
  std::vector<Step> next;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    // What the tokens after this one can still stand for.
    const std::size_t most = i < line.size() ? MonotoneAligner::kMost * (line.size() - i - 1) : 0;
    next.clear();
    for (std::size_t r = 0; r < readings.size(); ++r) {
      const Ngrams::Context context(ngrams_, readings[r].units);
      const auto step = [&](std::int32_t unit, std::size_t taken) {
        if (wanted.size() - taken > most) return;
        next.push_back({-(readings[r].score + std::log(context.probability(unit, units_.size()))), r, unit, taken});
      };
      const std::size_t taken = readings[r].taken;
      if (i == line.size()) {
        step(kEnd, taken);
        continue;
      }
      if (line[i] != kUnknown) {
        for (const std::int32_t unit : units_of_[static_cast<std::size_t>(line[i])]) {
          const Ids& stands_for = units_[static_cast<std::size_t>(unit)].target;
          if (taken + stands_for.size() > wanted.size()) continue;
          const auto at = wanted.begin() + static_cast<std::ptrdiff_t>(taken);
          if (std::equal(stands_for.begin(), stands_for.end(), at)) step(unit, taken + stands_for.size());
        }
      }
      for (std::size_t n = 0; n <= MonotoneAligner::kMost && taken + n <= wanted.size(); ++n) step(kUnknown, taken + n);
    }
    const std::size_t keep = std::min(how_.beam, next.size());
    std::partial_sort(next.begin(), next.begin() + static_cast<std::ptrdiff_t>(keep), next.end());
    std::vector<Reading> kept;
    for (std::size_t k = 0; k < keep && next[k].cost <= next[0].cost + kFar; ++k) {
      const Ids& before = readings[next[k].from].units;
      const std::size_t known = std::min(before.size(), how_.order - 1);
      kept.push_back(
          {-next[k].cost, Ids(before.end() - static_cast<std::ptrdiff_t>(known), before.end()), next[k].taken});
      kept.back().units.push_back(next[k].unit);
    }
    readings = std::move(kept);
  }
  if (readings.empty()) return kNever;
  double all = 0;
  for (const Reading& reading : readings) all += std::exp(reading.score - readings[0].score);
  return readings[0].score + std::log(all);
}

}  // namespace fovea::text
