#include "tasks/training/text/streamed_text.hpp"

#include <fmt/format.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/processes.hpp"
#include "base/rng.hpp"
#include "base/whole_file.hpp"
#include "fovea/error.hpp"
#include "text/lines.hpp"
#include "text/shard.hpp"

namespace fovea {
namespace {

using nlohmann::json;

// Of the memory of a window: how much text a shard takes, and how much the vocabularies are made of.
constexpr std::int64_t kShardsPerWindow = 16;
constexpr std::int64_t kSamplesPerWindow = 8;

json to_json(const text::LeftOut& left_out) {
  return {left_out.count, left_out.first};
}

text::LeftOut left_out(const json& j) {
  return {j.at(0).get<std::int64_t>(), j.at(1).get<std::string>()};
}

json to_json(const StreamedText::Shard& shard) {
  const text::CorpusReport& r = shard.report;
  return {{"bytes", shard.bytes},
          {"tokens", shard.summary.tokens},
          {"longest", shard.summary.longest},
          {"hash", shard.summary.hash},
          {"lines", r.lines},
          {"pairs", r.kept},
          {"empty", to_json(r.empty)},
          {"too_long", to_json(r.too_long)},
          {"source", {r.source_tokens, r.source_unknown}},
          {"target", {r.target_tokens, r.target_unknown}}};
}

StreamedText::Shard shard_from(const json& j, std::filesystem::path file, std::int64_t max_length) {
  StreamedText::Shard shard;
  shard.file = std::move(file);
  shard.bytes = j.at("bytes").get<std::int64_t>();
  shard.summary = {j.at("tokens").get<std::int64_t>(), j.at("longest").get<std::int64_t>(),
                   j.at("hash").get<std::uint64_t>()};
  text::CorpusReport& r = shard.report;
  r.lines = j.at("lines").get<std::int64_t>();
  r.kept = j.at("pairs").get<std::int64_t>();
  r.empty = left_out(j.at("empty"));
  r.too_long = left_out(j.at("too_long"));
  r.max_length = max_length;
  r.source_tokens = j.at("source").at(0).get<std::int64_t>();
  r.source_unknown = j.at("source").at(1).get<std::int64_t>();
  r.target_tokens = j.at("target").at(0).get<std::int64_t>();
  r.target_unknown = j.at("target").at(1).get<std::int64_t>();
  return shard;
}

// Calls each(number, source, target) for every line of both files, from 1.
void each_line(const TrainingJob& job,
               const std::function<void(std::int64_t, const std::string&, const std::string&)>& each) {
  text::LineReader source(job.source, text::LineReader::Limit::none);
  text::LineReader target(job.target, text::LineReader::Limit::none);
  std::string one, other;
  for (;;) {
    const bool more = source.next(one);
    if (more != target.next(other)) {
      while (more ? source.next(one) : target.next(other)) {
      }
      text::check_equal_lines(job.source, source.line_number(), job.target, target.line_number());
    }
    if (!more) return;
    each(source.line_number(), one, other);
  }
}

}  // namespace

void check_stream_fields(const TrainingJob& job) {
  if (!job.streams()) return;
  if (!job.pairs.empty()) throw UsageError("stream", "needs source and target, not pairs");
  if (job.subword_sampling > 0) throw UsageError("subword_sampling", "must be 0 for a text that is streamed");
  if (job.valid_source.empty() && job.valid_pairs.empty()) {
    throw UsageError("stream", "needs valid-source and valid-target; no lines are held out of a streamed text");
  }
}

StreamedText::StreamedText(const TrainingJob& job) : job_(job), task_(std::get<TextTraining>(job.task)) {
  if (processes().first()) lock_.emplace(task_.stream, "stream");
}

std::string StreamedText::index() const {
  return (task_.stream / "index.json").string();
}

std::filesystem::path StreamedText::file(std::size_t number) const {
  return task_.stream / fmt::format("{:06}.shard", number);
}

text::ParallelText StreamedText::sample(std::vector<std::string>& notes) const {
  text::ParallelText kept{job_.source, job_.target, {}, {}};
  const std::int64_t most = window_bytes() / kSamplesPerWindow;
  std::int64_t bytes = 0;
  std::int64_t lines = 0;
  int halvings = 0;  // of the share of lines that are kept
  const auto chosen = [&](std::int64_t line) {
    return halvings == 0 || mix64(job_.options.seed ^ mix64(static_cast<std::uint64_t>(line))) >> (64 - halvings) == 0;
  };
  const auto size = [&](std::size_t i) {
    return static_cast<std::int64_t>(kept.source[i].size() + kept.target[i].size() + 2 * sizeof(std::string));
  };
  each_line(job_, [&](std::int64_t line, const std::string& source, const std::string& target) {
    lines = line;
    if (!chosen(line)) return;
    kept.source.push_back(source);
    kept.target.push_back(target);
    kept.numbers.push_back(line);
    bytes += size(kept.source.size() - 1);
    while (bytes > most && kept.source.size() > 1) {
      ++halvings;
      std::size_t end = 0;
      bytes = 0;
      for (std::size_t i = 0; i < kept.source.size(); ++i) {
        if (!chosen(kept.numbers[i])) continue;
        std::swap(kept.source[end], kept.source[i]);
        std::swap(kept.target[end], kept.target[i]);
        kept.numbers[end] = kept.numbers[i];
        bytes += size(end++);
      }
      kept.source.resize(end);
      kept.target.resize(end);
      kept.numbers.resize(end);
    }
  });
  text::check_has_text(kept);
  if (halvings > 0) {
    notes.push_back(fmt::format("vocabularies: made of {} of {} lines, chosen by seed {}", kept.source.size(), lines,
                                job_.options.seed));
  }
  return kept;
}

// What decides the shards. Other vocabularies of the same size are noticed by the hash of the ids, which a checkpoint
// has.
std::string StreamedText::made_from(const Tokenizer& source, const Tokenizer& target) const {
  json all = {{"max-length", job_.max_length},
              {"stream-memory", task_.stream_memory},
              {"vocabularies", {source.size(), target.size()}}};
  for (const std::string& path : {job_.source, job_.target}) {
    std::error_code none;
    const auto size = std::filesystem::file_size(path, none);
    const auto written = std::filesystem::last_write_time(path, none).time_since_epoch().count();
    all["files"].push_back({path, size, written});
  }
  return all.dump();
}

bool StreamedText::read_index(const std::string& made_from) {
  std::ifstream in(index(), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in || text.empty()) return false;
  try {
    const json all = parse_json(text, index());
    if (all.at("made_from").get<std::string>() != made_from) return false;
    for (const json& one : all.at("shards")) {
      const std::filesystem::path path = file(shards_.size());
      std::error_code none;
      shards_.push_back(shard_from(one, path, job_.max_length));
      if (std::filesystem::file_size(path, none) != static_cast<std::uintmax_t>(shards_.back().bytes)) {
        shards_.clear();
        return false;
      }
    }
  } catch (const json::exception&) {
    throw FileError(index() + ": not an index of shards; remove it, and the text is encoded again");
  }
  return !shards_.empty();
}

void StreamedText::encode(const text::SourceReader& source, const Tokenizer& target, const text::CopyTable* copying,
                          bool resumes) {
  Processes& all = processes();
  const std::string key = made_from(source.tokenizer(), target);
  wait_for_all(all);  // for the lock
  if (resumes && read_index(key)) return;
  shards_.clear();
  if (all.first()) {
    std::error_code none;
    std::filesystem::remove(index(), none);
    for (std::size_t i = 0; std::filesystem::remove(file(i), none); ++i) {
    }
    remove_leftovers(task_.stream);
  }
  wait_for_all(all);
  const std::int64_t wanted = window_bytes() / kShardsPerWindow;
  text::ParallelText lines{job_.source, job_.target, {}, {}};
  std::int64_t bytes = 0;
  std::size_t number = 0;
  json own = json::array();
  const auto mine = [&] { return static_cast<int>(number % static_cast<std::size_t>(all.count())) == all.rank(); };
  const auto close = [&] {
    if (mine()) {
      Shard shard;
      text::Corpus corpus;
      corpus.add_lines(lines, source, target, job_.max_length, shard.report, copying);
      text::write_shard(file(number), corpus, lines.numbers[0]);
      shard.bytes = static_cast<std::int64_t>(std::filesystem::file_size(file(number)));
      shard.summary = text::summarize(corpus);
      own.push_back({number, to_json(shard)});
      lines.source.clear();
      lines.target.clear();
      lines.numbers.clear();
    }
    bytes = 0;
    ++number;
  };
  each_line(job_, [&](std::int64_t line, const std::string& one, const std::string& other) {
    bytes += static_cast<std::int64_t>(one.size() + other.size()) + 2;
    if (mine()) {
      lines.source.push_back(one);
      lines.target.push_back(other);
      lines.numbers.push_back(line);
    }
    if (bytes >= wanted) close();
  });
  if (bytes > 0) close();
  shards_.resize(number);
  for (const std::string& text : gather(all, own.dump())) {
    for (const json& one : parse_json(text, "the shards of another process")) {
      const auto at = one.at(0).get<std::size_t>();
      if (at >= number) throw FileError("the processes do not read the same text");
      shards_[at] = shard_from(one.at(1), file(at), job_.max_length);
    }
  }
  report().check_kept(job_.source, job_.target);
  if (!all.first()) return;
  json infos = json::array();
  for (const Shard& shard : shards_) infos.push_back(to_json(shard));
  write_whole_file(index(), json{{"made_from", key}, {"shards", infos}}.dump());
}

text::CorpusReport StreamedText::report() const {
  text::CorpusReport sum;
  for (const Shard& shard : shards_) sum.add(shard.report);
  return sum;
}

text::PairsSummary StreamedText::summary() const {
  text::PairsSummary sum;
  for (const Shard& shard : shards_) {
    sum.tokens += shard.summary.tokens;
    sum.longest = std::max(sum.longest, shard.summary.longest);
    sum.hash = mix64(sum.hash ^ shard.summary.hash);
  }
  return sum;
}

}  // namespace fovea
