#include "text/shortlist.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "fovea/error.hpp"
#include "fovea/safetensors.hpp"
#include "fovea/text/tokens.hpp"

namespace fovea::text {
namespace {

// p(target | source) for the pairs of tokens that occur together.
class Translations {
 public:
  Translations(const Pairs& pairs, int iterations) : pairs_(pairs) {
    for (std::int64_t i = 0; i < pairs.size(); ++i) {
      for (const std::int32_t s : pairs.source(i)) {
        for (const std::int32_t t : pairs.target(i)) keys_.push_back(key(s, t));
      }
      if (keys_.size() > kMost) tidy();
    }
    tidy();
    probability_.assign(keys_.size(), 1.0F);
    for (int i = 0; i < iterations; ++i) improve();
  }

  // Calls take(source, target, probability) in the order of source tokens.
  template <class Take>
  void each(const Take& take) const {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      take(static_cast<std::int32_t>(keys_[i] >> 32U), static_cast<std::int32_t>(keys_[i] & 0xFFFFFFFFU),
           probability_[i]);
    }
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 25U;
  static std::uint64_t key(std::int32_t s, std::int32_t t) {
    return static_cast<std::uint64_t>(s) << 32U | static_cast<std::uint32_t>(t);
  }
  void tidy() {
    std::sort(keys_.begin(), keys_.end());
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  }
  [[nodiscard]] std::size_t find(std::int32_t s, std::int32_t t) const {
    return static_cast<std::size_t>(std::lower_bound(keys_.begin(), keys_.end(), key(s, t)) - keys_.begin());
  }

  // Distributes each target token over the source tokens of its line by their probabilities, and counts the shares.
  void improve() {
    std::vector<float> count(keys_.size(), 0.0F);
    std::vector<std::size_t> places;
    for (std::int64_t i = 0; i < pairs_.size(); ++i) {
      for (const std::int32_t t : pairs_.target(i)) {
        places.clear();
        float sum = 0;
        for (const std::int32_t s : pairs_.source(i)) {
          places.push_back(find(s, t));
          sum += probability_[places.back()];
        }
        for (const std::size_t place : places) count[place] += probability_[place] / sum;
      }
    }
    for (std::size_t begin = 0; begin < keys_.size();) {
      std::size_t end = begin;
      double sum = 0;
      while (end < keys_.size() && keys_[end] >> 32U == keys_[begin] >> 32U) sum += count[end++];
      for (; begin < end; ++begin) probability_[begin] = static_cast<float>(count[begin] / sum);
    }
  }

  const Pairs& pairs_;
  std::vector<std::uint64_t> keys_;
  std::vector<float> probability_;
};

void check_tokens(const std::vector<std::int64_t>& tokens, std::int32_t vocabulary, const std::string& file,
                  const char* name) {
  for (const std::int64_t t : tokens) {
    if (t < 0 || t >= vocabulary) {
      throw FileError(fmt::format("{}: {}: token {} in a vocabulary of {}", file, name, t, vocabulary));
    }
  }
}

}  // namespace

Shortlist::Shortlist(const Pairs& pairs, std::int32_t source_vocabulary, std::int32_t target_vocabulary,
                     const ShortlistOptions& options)
    : target_vocabulary_(target_vocabulary) {
  std::vector<std::int64_t> frequency(static_cast<std::size_t>(target_vocabulary), 0);
  for (std::int64_t i = 0; i < pairs.size(); ++i) {
    for (const std::int32_t t : pairs.target(i)) ++frequency[static_cast<std::size_t>(t)];
  }
  common_.resize(frequency.size());
  std::iota(common_.begin(), common_.end(), 0);
  std::stable_sort(common_.begin(), common_.end(), [&](std::int64_t a, std::int64_t b) {
    return frequency[static_cast<std::size_t>(a)] > frequency[static_cast<std::size_t>(b)];
  });
  common_.resize(std::min(common_.size(), static_cast<std::size_t>(options.common)));
  std::sort(common_.begin(), common_.end());

  first_.assign(static_cast<std::size_t>(source_vocabulary) + 1, 0);
  std::vector<std::pair<float, std::int32_t>> best;
  std::int32_t at = 0;
  const auto finish = [&](std::int32_t next) {
    std::stable_sort(best.begin(), best.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    best.resize(std::min(best.size(), static_cast<std::size_t>(options.per_token)));
    std::sort(best.begin(), best.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    for (const auto& [p, t] : best) targets_.push_back(t);
    best.clear();
    for (; at < next; ++at) first_[static_cast<std::size_t>(at) + 1] = static_cast<std::int64_t>(targets_.size());
  };
  Translations(pairs, options.iterations).each([&](std::int32_t s, std::int32_t t, float p) {
    if (s != at) finish(s);
    best.emplace_back(p, t);
  });
  finish(source_vocabulary);
}

Shortlist::Shortlist(const std::vector<std::vector<std::int64_t>>& targets, std::vector<std::int64_t> common,
                     std::int32_t target_vocabulary)
    : target_vocabulary_(target_vocabulary), common_(std::move(common)), first_{0} {
  for (const std::vector<std::int64_t>& list : targets) {
    const auto begin = static_cast<std::ptrdiff_t>(targets_.size());
    targets_.insert(targets_.end(), list.begin(), list.end());
    std::sort(targets_.begin() + begin, targets_.end());
    first_.push_back(static_cast<std::int64_t>(targets_.size()));
  }
  std::sort(common_.begin(), common_.end());
}

Shortlist::Shortlist(const std::filesystem::path& file, std::int32_t source_vocabulary, std::int32_t target_vocabulary)
    : target_vocabulary_(target_vocabulary) {
  const Safetensors read(file);
  const std::string name = file.string();
  common_ = read.integers("common").values;
  first_ = read.integers("first").values;
  targets_ = read.integers("targets").values;
  if (first_.size() != static_cast<std::size_t>(source_vocabulary) + 1) {
    throw FileError(fmt::format("{}: made for {} source tokens, the model has {}", name,
                                static_cast<std::int64_t>(first_.size()) - 1, source_vocabulary));
  }
  if (first_.front() != 0 || first_.back() != static_cast<std::int64_t>(targets_.size()) ||
      !std::is_sorted(first_.begin(), first_.end())) {
    throw FileError(fmt::format("{}: \"first\" does not divide \"targets\"", name));
  }
  check_tokens(common_, target_vocabulary, name, "common");
  check_tokens(targets_, target_vocabulary, name, "targets");
}

void Shortlist::save(const std::filesystem::path& file) const {
  SafetensorsWriter writer;
  const auto add = [&writer](const char* name, const std::vector<std::int64_t>& values) {
    writer.add(name, {static_cast<std::int64_t>(values.size())}, std::span<const std::int64_t>(values));
  };
  add("common", common_);
  add("first", first_);
  add("targets", targets_);
  writer.write(file);
}

std::vector<std::int32_t> Shortlist::candidates(std::span<const std::int32_t> source) const {
  std::vector<std::int32_t> all{unk_id, eos_id};
  for (const std::int64_t t : common_) all.push_back(static_cast<std::int32_t>(t));
  for (const std::int32_t s : source) {
    const auto begin = first_[static_cast<std::size_t>(s)];
    const auto end = first_[static_cast<std::size_t>(s) + 1];
    for (auto i = begin; i < end; ++i) {
      all.push_back(static_cast<std::int32_t>(targets_[static_cast<std::size_t>(i)]));
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace fovea::text
