// fovea run with a language model: each line is the beginning of a text, and the output the line and what follows it. A
// line break that the model writes is the two characters \\n, so that a line stays a line.
#include <fmt/format.h>

#include <optional>
#include <ostream>

#include "base/whole_file.hpp"
#include "cli/io/gunzip.hpp"
#include "cli/io/input.hpp"
#include "cli/run/run_options.hpp"
#include "fovea/completer.hpp"
#include "fovea/error.hpp"
#include "view/record/attention_file.hpp"

namespace fovea::cli {
namespace {

constexpr std::size_t kTextBlock = 256;  // texts read before the first of them is written

// What cannot go with a model that has no source.
void check_completer_usage(const RunOptions& o) {
  if (o.models.size() > 1) {
    throw UsageError(fmt::format("--model: a language model works alone, {} are given", o.models.size()));
  }
  const std::pair<bool, const char*> refused[] = {{!o.alignments_file.empty(), "--alignments"},
                                                  {!o.intervene_file.empty(), "--intervene"},
                                                  {o.how.replace_unknown, "--replace-unknown"},
                                                  {o.how.coverage_penalty != 0, "--coverage-penalty"},
                                                  {o.load.shortlist, "--shortlist"},
                                                  {o.how.merge_words, "--words"},
                                                  {o.top > 0, "--top"},
                                                  {o.saliency, "--saliency"}};
  for (const auto& [given, option] : refused) {
    if (given) throw UsageError(fmt::format("{}: it does not go with a language model, which has no source", option));
  }
  if (o.kind_given && o.kind != "decoder" && o.kind != "all") {
    throw UsageError(fmt::format(
        "--kind: a language model attends to its own text only; decoder or all is possible, not {}", o.kind));
  }
  if ((o.kind_given || o.all_heads) && o.attention_file.empty()) {
    throw UsageError(
        fmt::format("{}: it goes with --attention, the file to write to", o.kind_given ? "--kind" : "--all-heads"));
  }
  if (!o.attention_file.empty() && o.how.n_best > 1) {
    throw UsageError("--n-best: with --attention there is one output for each line");
  }
}

// Of one layer or head where they were asked for.
AttentionRecord shown(const RunOptions& o, const Completion& c) {
  AttentionRecord record = c.record();
  if (c.maps.empty()) return record;
  if (o.how.layer >= 0 || o.how.head >= 0) {
    record.weights = chosen_weights(record, o.how.layer >= 0 ? std::optional(o.how.layer) : std::nullopt,
                                    o.how.head >= 0 ? std::optional(o.how.head) : std::nullopt);
    record.largest = {};
  }
  if (!o.lists_heads()) record.maps.clear();
  return record;
}

std::string one_line(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      out += c == '\n' ? "\\n" : "\\r";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

void run_completer(const RunOptions& o, const Streams& streams) {
  check_completer_usage(o);
  const Completer completer(o.models[0], o.load);
  CompleteOptions how{.beam = o.how.beam,
                      .length_penalty = o.how.length_penalty,
                      .n_best = o.how.n_best,
                      .min_length = o.how.min_length,
                      .no_repeat_ngram = o.how.no_repeat_ngram,
                      .repetition_penalty = o.how.repetition_penalty,
                      .sample = o.how.sample,
                      .temperature = o.how.temperature,
                      .top_k = o.how.top_k,
                      .top_p = o.how.top_p,
                      .seed = o.how.seed,
                      .attention = !o.attention_file.empty(),
                      .top_weights = o.how.top_weights,
                      .batch_tokens = o.how.batch_tokens};
  if (o.how.max_length != 0) how.max_length = o.how.max_length;
  completer.check(how);
  std::optional<WholeFile> attention;
  if (!o.attention_file.empty()) attention.emplace(o.attention_file);
  std::vector<std::string> lines;
  std::int64_t read = 0;
  const auto flush = [&] {
    how.first_line = read - static_cast<std::int64_t>(lines.size());
    const auto results = completer.complete(lines, how);
    std::vector<AttentionRecord> records;
    for (const auto& of_line : results) {
      for (const Completion& c : of_line) {
        if (o.scores) streams.out << fmt::format("{:.4f}\t", c.score);
        streams.out << one_line(c.text) << '\n';
        if (attention) records.push_back(shown(o, c));
      }
    }
    if (attention) attention->write(view::attention_lines(records, o.lists_heads()));
    if (!streams.out.flush()) throw Error("standard output: cannot write");
    lines.clear();
  };
  TextInput input(streams.in);
  for (std::string line; next_line(input.stream(), line, read);) {
    lines.push_back(std::move(line));
    if (lines.size() == kTextBlock || !has_more(input.stream())) flush();
  }
  if (!lines.empty()) flush();
  if (attention) attention->commit();
}

}  // namespace fovea::cli
