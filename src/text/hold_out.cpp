#include "text/hold_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "fovea/error.hpp"

namespace fovea::text {
namespace {

constexpr std::size_t kOneIn = 20;
constexpr std::size_t kMostHeldOut = 1000;

std::uint64_t line_hash(std::string_view line, std::uint64_t seed) {
  std::uint64_t hash = mix64(seed);
  for (const char c : line) hash = mix64(hash ^ static_cast<unsigned char>(c));
  return hash;
}

}  // namespace

ParallelText hold_out(ParallelText& text, std::uint64_t seed) {
  std::unordered_map<std::string_view, std::size_t> counts;  // of each source line that is not blank
  for (const std::string& line : text.source) {
    if (line.find_first_not_of(" \t") != line.npos) ++counts[line];
  }
  if (counts.size() < 2) {
    throw UsageError(
        "valid_source",
        fmt::format("{} has too few different lines to hold some out; give lines to validate on", text.source_path));
  }
  std::vector<std::pair<std::uint64_t, std::string_view>> order;
  for (const auto& [line, count] : counts) order.emplace_back(line_hash(line, seed), line);
  std::sort(order.begin(), order.end());
  const std::size_t wanted = std::clamp<std::size_t>(text.source.size() / kOneIn, 1, kMostHeldOut);
  std::unordered_set<std::string_view> chosen;
  std::size_t taken = 0;
  for (const auto& [hash, line] : order) {
    if (taken + counts[line] > wanted) continue;  // a line that is repeated too often
    chosen.insert(line);
    taken += counts[line];
    if (taken == wanted) break;
  }
  if (chosen.empty()) {  // all are: the least repeated one
    chosen.insert(std::min_element(order.begin(), order.end(), [&counts](const auto& a, const auto& b) {
                    return counts[a.second] < counts[b.second];
                  })->second);
  }
  std::vector<bool> held(text.source.size());
  for (std::size_t i = 0; i < held.size(); ++i) held[i] = chosen.contains(text.source[i]);

  ParallelText rest{text.source_path, text.target_path, {}, {}};
  ParallelText out = rest;
  for (std::size_t i = 0; i < held.size(); ++i) {
    ParallelText& side = held[i] ? out : rest;
    side.source.push_back(std::move(text.source[i]));
    side.target.push_back(std::move(text.target[i]));
    side.numbers.push_back(text.number(static_cast<std::int64_t>(i)));
  }
  text = std::move(rest);
  return out;
}

}  // namespace fovea::text
