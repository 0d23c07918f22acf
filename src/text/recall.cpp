#include "text/recall.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "fovea/error.hpp"
#include "text/unicode.hpp"

namespace fovea::text {
namespace {

constexpr std::int32_t kUnknown = -1;         // a token that was never seen
constexpr std::int32_t kBegin = 0, kEnd = 1;  // units
constexpr double kFar = 12;                   // a reading e^12 times less likely than the best is not followed
constexpr double kSure = 0.99, kLikely = 0.8;

void check(const RecallOptions& how) {
  if (how.order < 1 || how.order > Ngrams::kMostOrder) {
    throw UsageError(fmt::format("recall: order {} is not from 1 to {}", how.order, Ngrams::kMostOrder));
  }
  if (how.beam < 1) throw UsageError("recall: a beam of 0");
}

// Numbers for tokens, in the order of their first use.
class Numbers {
 public:
  explicit Numbers(std::unordered_map<std::string, std::int32_t>& known) : known_(known) {}
  Ids operator()(std::string_view line, std::vector<std::string_view>* names = nullptr) {
    Ids ids;
    for (const std::string_view token : split_words(line)) {
      const auto [at, is_new] = known_.emplace(token, static_cast<std::int32_t>(known_.size()));
      if (is_new && names != nullptr) names->push_back(at->first);
      ids.push_back(at->second);
    }
    return ids;
  }

 private:
  std::unordered_map<std::string, std::int32_t>& known_;
};

}  // namespace

Recall::Recall(std::span<const std::string> sources, std::span<const std::string> targets, const RecallOptions& how)
    : how_((check(how), how)), ngrams_(how.order), units_(2) {
  if (sources.size() != targets.size()) {
    throw UsageError(fmt::format("recall: {} sources and {} targets", sources.size(), targets.size()));
  }
  std::unordered_map<std::string, std::int32_t> target_numbers;
  std::vector<std::string_view> target_tokens;
  Numbers number_source(tokens_);
  Numbers number_target(target_numbers);
  std::vector<MonotoneAligner::Pair> pairs(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    pairs[i] = {number_source(sources[i]), number_target(targets[i], &target_tokens)};
  }
  units_of_.resize(tokens_.size());
  learn(pairs, target_tokens);
}

void Recall::learn(std::span<const MonotoneAligner::Pair> pairs, std::span<const std::string_view> target_tokens) {
  const MonotoneAligner aligner(pairs);
  std::map<std::pair<std::int32_t, std::string>, std::int32_t> numbers;
  for (const auto& pair : pairs) {
    const auto alignment = aligner.align(pair);
    if (alignment.empty()) continue;
    Ids units{kBegin};
    std::size_t taken = 0;
    for (std::size_t i = 0; i < alignment.size(); ++i) {
      std::string target(alignment[i] == 0 ? "-" : "");
      for (std::size_t n = 0; n < alignment[i]; ++n, ++taken) {
        if (n > 0) target += '_';
        target += target_tokens[static_cast<std::size_t>(pair.target[taken])];
      }
      const auto next = static_cast<std::int32_t>(units_.size());
      const auto [at, is_new] = numbers.try_emplace({pair.source[i], target}, next);
      if (is_new) {
        units_.push_back({pair.source[i], target});
        units_of_[static_cast<std::size_t>(pair.source[i])].push_back(next);
      }
      ++units_[static_cast<std::size_t>(at->second)].seen;
      units.push_back(at->second);
    }
    units.push_back(kEnd);
    ngrams_.remember(units);
    remembered_[pair.source].push_back(std::move(units));
  }
}

Ids Recall::ids(std::string_view line) const {
  Ids ids;
  for (const std::string_view token : split_words(line)) {
    const auto found = tokens_.find(std::string(token));
    ids.push_back(found == tokens_.end() ? kUnknown : found->second);
  }
  return ids;
}

// From left to right, keeping the likeliest readings of what was read.
std::vector<Recall::Reading> Recall::read(const Ids& line) const {
  static const Ids end{kEnd};
  static const Ids unknown{kUnknown};
  std::vector<Reading> readings{{0.0, {kBegin}}};
  std::vector<std::tuple<double, std::size_t, std::int32_t>> next;  // -score, which reading, its next unit
  for (std::size_t i = 0; i <= line.size(); ++i) {
    const Ids* choices = &end;
    if (i < line.size()) choices = line[i] == kUnknown ? &unknown : &units_of_[static_cast<std::size_t>(line[i])];
    if (choices->empty()) choices = &unknown;
    next.clear();
    for (std::size_t r = 0; r < readings.size(); ++r) {
      const Ngrams::Context context(ngrams_, readings[r].units);
      for (const std::int32_t unit : *choices) {
        next.emplace_back(-(readings[r].score + std::log(context.probability(unit, units_.size()))), r, unit);
      }
    }
    const std::size_t keep = std::min(how_.beam, next.size());
    std::partial_sort(next.begin(), next.begin() + static_cast<std::ptrdiff_t>(keep), next.end());
    std::vector<Reading> kept;
    for (std::size_t k = 0; k < keep && std::get<0>(next[k]) <= std::get<0>(next[0]) + kFar; ++k) {
      const auto& [cost, from, unit] = next[k];
      kept.push_back({-cost, readings[from].units});
      kept.back().units.push_back(unit);
    }
    readings = std::move(kept);
  }
  return readings;
}

std::string Recall::told(std::int32_t unit) const {
  if (unit < 0) return {};
  const Unit& u = units_[static_cast<std::size_t>(unit)];
  return u.seen < how_.least ? std::string() : u.target;
}

std::vector<Recall::Guess> Recall::guess(std::string_view line) {
  const Ids tokens = ids(line);
  const auto own = remembered_.find(tokens);
  if (own != remembered_.end()) {
    for (const Ids& units : own->second) ngrams_.forget(units);
  }
  const std::vector<Reading> readings = read(tokens);
  if (own != remembered_.end()) {
    for (const Ids& units : own->second) ngrams_.remember(units);
  }
  std::vector<double> likely;
  double all = 0;
  for (const Reading& reading : readings) all += likely.emplace_back(std::exp(reading.score - readings[0].score));
  std::vector<Guess> guesses;
  for (std::size_t i = 1; i <= tokens.size(); ++i) {
    std::map<std::int32_t, double> shares;
    for (std::size_t r = 0; r < readings.size(); ++r) shares[readings[r].units[i]] += likely[r] / all;
    const std::int32_t first = readings[0].units[i];
    const double share = shares[first];
    shares.erase(first);
    const auto second = std::max_element(shares.begin(), shares.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
    guesses.push_back({told(first), second == shares.end() ? std::string() : told(second->first), share});
  }
  return guesses;
}

std::string Recall::remind(std::string_view line) {
  const auto guesses = guess(line);
  const auto tokens = split_words(line);
  std::string out;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0) out += ' ';
    out += tokens[i];
    const auto& [first, second, share] = guesses[i];
    if (first.empty()) continue;
    (out += ':') += first;
    if (share < kSure) (out += share < kLikely ? "??" : "?") += second;
  }
  return out;
}

}  // namespace fovea::text
