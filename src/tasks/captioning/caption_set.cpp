#include "tasks/captioning/caption_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "base/rng.hpp"
#include "fovea/error.hpp"

namespace fovea {
namespace {

constexpr std::size_t kTogether = 8;  // captions of one example at most

// Lines by picture; pictures numbered as they come.
struct ByPicture {
  explicit ByPicture(const text::ParallelText& text) {
    std::unordered_map<std::string_view, std::size_t> numbers;
    for (std::size_t i = 0; i < text.source.size(); ++i) {
      const auto [found, is_new] = numbers.emplace(text.source[i], places.size());
      if (is_new) {
        places.push_back(text.source[i]);
        lines.emplace_back();
      }
      lines[found->second].push_back(i);
    }
  }
  std::vector<std::string> places;
  std::vector<std::vector<std::size_t>> lines;
};

}  // namespace

std::vector<std::string> CaptionSet::places(const text::ParallelText& text) {
  return ByPicture(text).places;
}

CaptionSet::CaptionSet(const text::ParallelText& text, const PictureStore& pictures, const Tokenizer& tokenizer,
                       std::int64_t max_length)
    : pictures_(pictures) {
  const ByPicture by(text);
  std::int64_t empty = 0, too_long = 0, broken = 0, tokens = 0, unknown = 0;
  std::string first_broken;
  std::vector<std::int32_t> ids;
  for (std::size_t p = 0; p < by.lines.size(); ++p) {
    const auto picture = static_cast<std::int64_t>(p);
    if (!pictures.error(picture).empty()) {
      if (broken++ == 0) first_broken = pictures.error(picture);
      continue;
    }
    for (const std::size_t line : by.lines[p]) {
      tokenizer.encode(text.target[line], ids);
      if (ids.empty() || static_cast<std::int64_t>(ids.size()) > max_length) {
        ++(ids.empty() ? empty : too_long);
        continue;
      }
      if (examples_.empty() || examples_.back().picture != picture ||
          examples_.back().end - examples_.back().begin == static_cast<std::int64_t>(kTogether)) {
        examples_.push_back({picture, captions(), captions()});
      }
      ++examples_.back().end;
      tokens += static_cast<std::int64_t>(ids.size());
      unknown += std::count(ids.begin(), ids.end(), unk_id);
      ids_.insert(ids_.end(), ids.begin(), ids.end());
      begins_.push_back(ids_.size());
    }
  }
  if (captions() == 0) {
    throw FileError(fmt::format("{} and {}: no picture with a caption is left{}{}", text.source_path, text.target_path,
                                first_broken.empty() ? "" : "; the first that cannot be read: ", first_broken));
  }
  notes_.push_back(fmt::format("{} pictures, {} captions, {} tokens, {:.2f}% of them unknown", pictures.size() - broken,
                               captions(), tokens, 100.0 * static_cast<double>(unknown) / static_cast<double>(tokens)));
  if (broken > 0) {
    notes_.push_back(
        fmt::format("warning: left out {} of {} pictures, the first: {}", broken, pictures.size(), first_broken));
  }
  if (empty > 0) notes_.push_back(fmt::format("warning: left out {} empty captions", empty));
  if (too_long > 0) {
    notes_.push_back(
        fmt::format("warning: left out {} captions of more than {} tokens (max-length)", too_long, max_length));
  }
}

ExampleSize CaptionSet::size(std::int64_t example) const {
  const Example& e = examples_[static_cast<std::size_t>(example)];
  const std::size_t tokens = begins_[static_cast<std::size_t>(e.end)] - begins_[static_cast<std::size_t>(e.begin)];
  return {1, static_cast<std::int64_t>(tokens) + (e.end - e.begin)};
}

std::uint64_t CaptionSet::hash() const {
  std::uint64_t hash = 0;
  const auto add = [&hash](std::uint64_t value) { hash = mix64(hash ^ value); };
  for (const Example& e : examples_) {
    for (const char c : pictures_.place(e.picture)) add(static_cast<unsigned char>(c));
    for (std::int64_t i = e.begin; i < e.end; ++i) {
      add(caption(i).size());
      for (const std::int32_t id : caption(i)) add(static_cast<std::uint64_t>(id));
    }
  }
  return hash;
}

CaptionPlan::CaptionPlan(const CaptionSet& set, std::int64_t batch_tokens, std::uint64_t seed)
    : set_(set), batch_tokens_(batch_tokens), seed_(seed), order_(static_cast<std::size_t>(set.examples())) {
  start(0);
}

std::int64_t CaptionPlan::batches(std::int64_t epoch) {
  if (epoch != epoch_) start(epoch);
  return static_cast<std::int64_t>(ends_.size());
}

void CaptionPlan::batch(std::int64_t epoch, std::int64_t index, std::vector<std::int64_t>& examples) {
  (void)batches(epoch);
  const std::size_t begin = index == 0 ? 0 : ends_[static_cast<std::size_t>(index) - 1];
  examples.assign(order_.begin() + static_cast<std::ptrdiff_t>(begin),
                  order_.begin() + static_cast<std::ptrdiff_t>(ends_[static_cast<std::size_t>(index)]));
}

void CaptionPlan::start(std::int64_t epoch) {
  epoch_ = epoch;
  std::iota(order_.begin(), order_.end(), 0);
  Rng rng(seed_ ^ mix64(static_cast<std::uint64_t>(epoch) + 0x9157));
  rng.shuffle(std::span(order_));
  ends_.clear();
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    tokens += set_.size(order_[i]).output;
    if (tokens < batch_tokens_ && i + 1 < order_.size()) continue;
    ends_.push_back(i + 1);
    tokens = 0;
  }
}

}  // namespace fovea
