// Attention records as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fovea/attention_record.hpp"
#include "fovea/error.hpp"
#include "view/record/attention_json.hpp"
#include "view/record/numbers.hpp"
#include "view/text.hpp"

namespace fovea {
namespace {

using nlohmann::json;

// The tokens of all sentences as one list: tokens(i) are those of sentence i.
template <class Tokens>
void append_tokens(std::string& out, std::size_t sentences, const Tokens& tokens) {
  out += '[';
  bool first = true;
  for (std::size_t i = 0; i < sentences; ++i) {
    for (const std::string& token : tokens(i)) {
      if (!first) out += ',';
      first = false;
      out += json(view::clean(token)).dump();
    }
  }
  out += ']';
}

// The weights of all sentences as one matrix: weights(i) is a block on the diagonal.
template <class Weights>
void append_weights(std::string& out, std::size_t sentences, const Weights& weights, int decimals) {
  std::int64_t columns = 0;
  for (std::size_t i = 0; i < sentences; ++i) columns += weights(i).columns;
  std::int64_t before = 0;
  bool first = true;
  out += '[';
  for (std::size_t i = 0; i < sentences; ++i) {
    const AttentionMatrix& block = weights(i);
    for (std::int64_t t = 0; t < block.rows; ++t) {
      out += first ? "[" : ",[";
      first = false;
      for (std::int64_t s = 0; s < columns; ++s) {
        if (s > 0) out += ',';
        if (s < before || s >= before + block.columns) {
          out += '0';
        } else {
          view::append_number(out, block.at(t, s - before), decimals);
        }
      }
      out += ']';
    }
    before += block.columns;
  }
  out += ']';
}

// The largest weights of all sentences, with keys numbered through all of them.
template <class Largest>
void append_largest(std::string& out, std::size_t sentences, const Largest& largest, int decimals) {
  const auto rows = [&](const auto& append) {
    out += '[';
    bool first = true;
    std::int64_t before = 0;
    for (std::size_t i = 0; i < sentences; ++i) {
      const LargestWeights& one = largest(i);
      for (std::int64_t r = 0; r < one.rows; ++r) {
        out += first ? "[" : ",[";
        first = false;
        for (std::int64_t n = 0; n < one.count; ++n) {
          if (n > 0) out += ',';
          append(one, static_cast<std::size_t>(r * one.count + n), before);
        }
        out += ']';
      }
      before += one.columns;
    }
    out += ']';
  };
  out += "{\"index\":";
  rows([&](const LargestWeights& one, std::size_t at, std::int64_t before) {
    fmt::format_to(std::back_inserter(out), "{}", one.index[at] + before);
  });
  out += ",\"weight\":";
  rows([&](const LargestWeights& one, std::size_t at, std::int64_t) {
    view::append_number(out, one.weight[at], decimals);
  });
  out += '}';
}

// "weights" or "largest" of records or maps: of(i) is that of sentence i.
template <class Of>
void append_either(std::string& out, std::size_t sentences, const Of& of, int decimals) {
  if (of(0).largest) {
    out += ",\"largest\":";
    append_largest(
        out, sentences, [&](std::size_t i) -> const auto& { return of(i).largest; }, decimals);
  } else {
    out += ",\"weights\":";
    append_weights(
        out, sentences, [&](std::size_t i) -> const auto& { return of(i).weights; }, decimals);
  }
}

void append_labels(std::string& out, const AttentionRecord& record, int decimals) {
  out += ",\"labels\":[";
  for (std::size_t i = 0; i < record.labels.size(); ++i) {
    const RecordLabel& one = record.labels[i];
    out += fmt::format("{}{{\"label\":{},\"probability\":", i > 0 ? "," : "", json(view::clean(one.label)).dump());
    view::append_number(out, one.probability, decimals);
    if (!one.saliency.empty()) {
      out += ",\"saliency\":[";
      for (std::size_t t = 0; t < one.saliency.size(); ++t) {
        if (t > 0) out += ',';
        view::append_number(out, one.saliency[t], decimals);
      }
      out += ']';
    }
    out += '}';
  }
  out += ']';
}

// Records can be joined whose maps match in number and form.
void check_joinable(std::span<const AttentionRecord> sentences) {
  const AttentionRecord& first = sentences[0];
  for (const AttentionRecord& sentence : sentences) {
    check(sentence);
    bool same = static_cast<bool>(sentence.largest) == static_cast<bool>(first.largest);
    for (std::size_t m = 0; m < std::min(sentence.maps.size(), first.maps.size()); ++m) {
      same &= static_cast<bool>(sentence.maps[m].largest) == static_cast<bool>(first.maps[m].largest);
    }
    if (!same) throw ShapeError("attention record: all weights and the largest only cannot be joined");
    if (sentence.maps.size() != first.maps.size()) {
      throw ShapeError(
          fmt::format("attention record: {} and {} maps cannot be joined", first.maps.size(), sentence.maps.size()));
    }
  }
}

void append_copied(std::string& out, std::span<const AttentionRecord> sentences, int decimals) {
  out += ",\"copied\":[";
  for (const AttentionRecord& sentence : sentences) {
    for (std::size_t t = 0; t < sentence.target.size(); ++t) {
      if (out.back() != '[') out += ',';
      view::append_number(out, t < sentence.copied.size() ? sentence.copied[t] : 0.0F, decimals);
    }
  }
  out += ']';
}

// Map m of every sentence as one.
void append_map(std::string& out, std::span<const AttentionRecord> sentences, std::size_t m, int decimals) {
  const AttentionMap& one = sentences[0].maps[m];
  const std::size_t n = sentences.size();
  out += fmt::format("{{\"kind\":\"{}\",\"layer\":{},\"head\":{},\"queries\":", name_of(one.kind), one.layer, one.head);
  append_tokens(
      out, n, [&](std::size_t i) -> const auto& { return sentences[i].maps[m].queries; });
  out += ",\"keys\":";
  append_tokens(
      out, n, [&](std::size_t i) -> const auto& { return sentences[i].maps[m].keys; });
  append_either(
      out, n, [&](std::size_t i) -> const auto& { return sentences[i].maps[m]; }, decimals);
  out += '}';
}

}  // namespace

std::string to_json(const AttentionRecord& record, const AttentionJsonOptions& how) {
  return to_json(std::span(&record, 1), how);
}

std::string to_json(std::span<const AttentionRecord> sentences, const AttentionJsonOptions& how) {
  if (sentences.empty()) return to_json(AttentionRecord{}, how);
  std::string out = "{";
  view::append_record(out, sentences, how);
  out += '}';
  return out;
}

void view::append_record(std::string& out, std::span<const AttentionRecord> sentences,
                         const AttentionJsonOptions& how) {
  check_joinable(sentences);
  const AttentionRecord& first = sentences[0];
  const std::size_t n = sentences.size();
  if (!first.title.empty()) out += "\"title\":" + json(view::clean(first.title)).dump() + ",";
  if (first.picture.rows > 0) {
    out += fmt::format("\"picture\":{{\"place\":{},\"rows\":{},\"columns\":{}}},",
                       json(view::clean(first.picture.place)).dump(), first.picture.rows, first.picture.columns);
  }
  out += "\"source\":";
  append_tokens(
      out, n, [&](std::size_t i) -> const auto& { return sentences[i].source; });
  out += ",\"target\":";
  append_tokens(
      out, n, [&](std::size_t i) -> const auto& { return sentences[i].target; });
  append_either(
      out, n, [&](std::size_t i) -> const auto& { return sentences[i]; }, how.decimals);
  if (std::any_of(sentences.begin(), sentences.end(), [](const auto& s) { return !s.copied.empty(); })) {
    append_copied(out, sentences, how.decimals);
  }
  if (!first.maps.empty()) {
    out += ",\"attention\":[";
    for (std::size_t m = 0; m < first.maps.size(); ++m) {
      if (m > 0) out += ',';
      append_map(out, sentences, m, how.decimals);
    }
    out += ']';
  }
  if (n == 1 && !first.labels.empty()) append_labels(out, first, how.decimals);
}

}  // namespace fovea
