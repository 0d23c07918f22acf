#include "text/corpus.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/rng.hpp"
#include "fovea/error.hpp"
#include "fovea/threads.hpp"
#include "text/lines.hpp"

namespace fovea::text {
namespace {

void leave_out(LeftOut& reason, const std::string& path, std::int64_t line) {
  if (reason.count++ == 0) reason.first = fmt::format("{}:{}", path, line);
}

std::int64_t count_unknown(std::span<const std::int32_t> ids) {
  return std::count(ids.begin(), ids.end(), unk_id);
}

}  // namespace

void check_has_text(const ParallelText& text) {
  if (text.source.empty()) {
    const bool one = text.source_path == text.target_path;
    throw FileError(one ? text.source_path + " holds no lines"
                        : fmt::format("{} and {} hold no lines", text.source_path, text.target_path));
  }
  for (const auto& [path, lines] : {std::pair{&text.source_path, &text.source}, {&text.target_path, &text.target}}) {
    const auto blank = [](const std::string& line) { return line.find_first_not_of(" \t\r") == std::string::npos; };
    if (std::all_of(lines->begin(), lines->end(), blank)) throw FileError(*path + " holds only blank lines");
  }
}

void check_equal_lines(const std::string& source_path, std::int64_t source_lines, const std::string& target_path,
                       std::int64_t target_lines) {
  if (source_lines == target_lines) return;
  throw FileError(fmt::format("{} has {} lines but {} has {}; each line of one must answer the same line of the other",
                              source_path, source_lines, target_path, target_lines));
}

ParallelText read_parallel(const std::string& source_path, const std::string& target_path) {
  ParallelText text{source_path, target_path, read_lines(source_path), read_lines(target_path)};
  check_equal_lines(source_path, static_cast<std::int64_t>(text.source.size()), target_path,
                    static_cast<std::int64_t>(text.target.size()));
  check_has_text(text);
  return text;
}

std::vector<std::string> CorpusReport::warnings() const {
  std::vector<std::string> out;
  if (empty.count > 0) {
    out.push_back(fmt::format("left out {} of {} line pairs with an empty side, the first at {}", empty.count, lines,
                              empty.first));
  }
  if (too_long.count > 0) {
    out.push_back(fmt::format("left out {} of {} line pairs of more than {} tokens (max-length), the first at {}",
                              too_long.count, lines, max_length, too_long.first));
  }
  return out;
}

void CorpusReport::add(const CorpusReport& next) {
  const auto add_left_out = [](LeftOut& sum, const LeftOut& more) {
    if (sum.count == 0) sum.first = more.first;
    sum.count += more.count;
  };
  lines += next.lines;
  kept += next.kept;
  add_left_out(empty, next.empty);
  add_left_out(too_long, next.too_long);
  max_length = next.max_length;
  source_tokens += next.source_tokens;
  source_unknown += next.source_unknown;
  target_tokens += next.target_tokens;
  target_unknown += next.target_unknown;
}

void CorpusReport::check_kept(const std::string& source_path, const std::string& target_path) const {
  if (kept > 0) return;
  throw FileError(
      fmt::format("{} and {}: none of the {} line pairs is left, {} have an empty side and {} more than {} "
                  "tokens (max-length)",
                  source_path, target_path, lines, empty.count, too_long.count, max_length));
}

Corpus::Corpus(const ParallelText& text, const SourceReader& source, const Tokenizer& target, std::int64_t max_length,
               CorpusReport* report, const CopyTable* copying) {
  CorpusReport tally;
  add_lines(text, source, target, max_length, tally, copying);
  tally.check_kept(text.source_path, text.target_path);
  if (report != nullptr) *report = tally;
}

void Corpus::add_lines(const ParallelText& text, const SourceReader& source, const Tokenizer& target,
                       std::int64_t max_length, CorpusReport& tally, const CopyTable* copying) {
  const auto read = [&](const std::string& line, SourceLine& out) {
    if (source.has_parts() || copying != nullptr) {
      source.read(line, out);
    } else {
      source.tokenizer().encode(line, out.ids, nullptr);
    }
  };
  const auto lines = static_cast<std::int64_t>(text.source.size());
  tally.lines += lines;
  tally.max_length = max_length;
  // Lines are cut on all threads, some at a time, and taken in their order.
  constexpr std::int64_t at_once = 1 << 14;
  struct Ids {
    SourceLine line;
    std::vector<std::int32_t> target, copies;
    std::vector<std::string> target_pieces, words;
  };
  std::vector<Ids> encoded(static_cast<std::size_t>(std::min(at_once, lines)));
  for (std::int64_t begin = 0; begin < lines; begin += at_once) {
    const std::int64_t count = std::min(at_once, lines - begin);
    parallel_for(count, 256, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to; ++i) {
        Ids& ids = encoded[static_cast<std::size_t>(i)];
        const bool pieces = copying != nullptr;
        read(text.source[static_cast<std::size_t>(begin + i)], ids.line);
        target.encode(text.target[static_cast<std::size_t>(begin + i)], ids.target,
                      pieces ? &ids.target_pieces : nullptr);
        if (copying == nullptr) continue;
        copying->source(ids.line.ids, ids.line.pieces, ids.copies, ids.words);
        copying->target(ids.target, ids.target_pieces, ids.words);
      }
    });
    for (std::int64_t i = 0; i < count; ++i) {
      const Ids& ids = encoded[static_cast<std::size_t>(i)];
      const std::int64_t line = begin + i + 1;
      const auto source_tokens = static_cast<std::int64_t>(ids.line.ids.size());
      const auto target_tokens = static_cast<std::int64_t>(ids.target.size());
      if (source_tokens == 0 || target_tokens == 0) {
        leave_out(tally.empty, source_tokens == 0 ? text.source_path : text.target_path, text.number(line - 1));
      } else if (source_tokens > max_length || target_tokens > max_length) {
        leave_out(tally.too_long, source_tokens > max_length ? text.source_path : text.target_path,
                  text.number(line - 1));
      } else {
        add(ids.line.ids, ids.target, line, ids.copies, ids.line.parts());
        ++tally.kept;
        tally.source_tokens += source_tokens;
        tally.target_tokens += target_tokens;
        tally.source_unknown += count_unknown(ids.line.ids);
        tally.target_unknown += count_unknown(ids.target);
      }
    }
  }
}

Corpus Corpus::sampled(const ParallelText& text, const Tokenizer& source, const Tokenizer& target,
                       std::int64_t max_length, double amount, std::uint64_t seed, const CopyTable* copying) const {
  const auto sources = source.sample(text.source, amount, mix64(seed));
  const auto targets = target.sample(text.target, amount, mix64(seed + 1));
  Corpus out;
  std::vector<std::int32_t> copies;
  for (std::int64_t i = 0; i < size(); ++i) {
    const auto at = static_cast<std::size_t>(line(i) - 1);
    const auto longest = static_cast<std::int64_t>(std::max(sources[at].size(), targets[at].size()));
    if (longest <= max_length) {
      if (copying != nullptr) copying->source(sources[at], copies);
      out.add(sources[at], targets[at], line(i), copies);
    } else {
      out.add(this->source(i), this->target(i), line(i), this->copies(i));
    }
  }
  return out;
}

SourceParts Corpus::parts(std::int64_t i) const {
  if (places_.empty()) return {};
  const Places& p = places_[static_cast<std::size_t>(i)];
  return {{sentence_ends_.data() + p.sentences, p.sentence_count},
          {bag_ids_.data() + p.bag_ids, p.bag_id_count},
          {bag_ends_.data() + p.bags, p.bag_count}};
}

void Corpus::add(std::span<const std::int32_t> source, std::span<const std::int32_t> target, std::int64_t line,
                 std::span<const std::int32_t> copies, const SourceParts& parts) {
  if (!parts.sentence_ends.empty() || !parts.bag_ends.empty()) {
    const auto append = [](std::vector<std::int32_t>& to, std::span<const std::int32_t> from) {
      to.insert(to.end(), from.begin(), from.end());
      return static_cast<std::uint32_t>(from.size());
    };
    Places& p = places_.emplace_back(Places{sentence_ends_.size(), bag_ids_.size(), bag_ends_.size(), 0, 0, 0});
    p.sentence_count = append(sentence_ends_, parts.sentence_ends);
    p.bag_id_count = append(bag_ids_, parts.bag_ids);
    p.bag_count = append(bag_ends_, parts.bag_ends);
  }
  pairs_.push_back(
      {ids_.size(), static_cast<std::uint32_t>(source.size()), static_cast<std::uint32_t>(target.size()), line});
  ids_.insert(ids_.end(), source.begin(), source.end());
  ids_.insert(ids_.end(), target.begin(), target.end());
  ids_.insert(ids_.end(), copies.begin(), copies.end());
  copies_ = !copies.empty();
}

}  // namespace fovea::text
