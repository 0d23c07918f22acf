#include "fovea/attention_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attention/head_mean.hpp"
#include "base/heap_bytes.hpp"
#include "fovea/error.hpp"

namespace fovea {

AttentionMatrix LargestWeights::dense() const {
  constexpr std::int64_t most = std::int64_t{1} << 24;
  if (rows > 0 && columns > most / rows) {
    throw UsageError(fmt::format("attention record: {} by {} weights are too many to write out", rows, columns));
  }
  AttentionMatrix all{rows, columns, std::vector<float>(static_cast<std::size_t>(rows * columns), 0.0F)};
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t n = 0; n < count; ++n) {
      const auto at = static_cast<std::size_t>(r * count + n);
      all.values[static_cast<std::size_t>(r * columns + index[at])] += weight[at];
    }
  }
  return all;
}

std::size_t heap_bytes(const LargestWeights& largest) {
  return heap_bytes(largest.index) + heap_bytes(largest.weight);
}

std::size_t heap_bytes(const AttentionMap& map) {
  return heap_bytes(map.queries) + heap_bytes(map.keys) + heap_bytes(map.weights.values) + heap_bytes(map.largest);
}

std::size_t heap_bytes(const RecordLabel& label) {
  return heap_bytes(label.label) + heap_bytes(label.saliency);
}

std::size_t heap_bytes(const AttentionRecord& record) {
  return heap_bytes(record.title) + heap_bytes(record.source) + heap_bytes(record.target) +
         heap_bytes(record.weights.values) + heap_bytes(record.largest) + heap_bytes(record.copied) +
         heap_bytes(record.maps) + heap_bytes(record.labels) + heap_bytes(record.picture.place);
}

LargestWeights mean_of_largest(const std::vector<AttentionMap>& maps) {
  if (maps.empty()) return {};
  const LargestWeights& first = maps.front().largest;
  LargestWeights mean{first.rows, first.columns, first.count, {}, {}};
  std::vector<std::pair<std::int64_t, float>> row;  // key and weight
  for (std::int64_t r = 0; r < first.rows; ++r) {
    row.clear();
    for (const AttentionMap& map : maps) {
      const LargestWeights& one = map.largest;
      if (one.rows != first.rows || one.columns != first.columns || one.count != first.count) {
        throw ShapeError(fmt::format("mean of heads: the {} largest of [{},{}] and the {} largest of [{},{}] differ",
                                     first.count, first.rows, first.columns, one.count, one.rows, one.columns));
      }
      for (std::int64_t n = 0; n < one.count; ++n) {
        const auto at = static_cast<std::size_t>(r * one.count + n);
        row.emplace_back(one.index[at], one.weight[at] / static_cast<float>(maps.size()));
      }
    }
    std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::size_t kept = 0;
    for (std::size_t i = 1; i < row.size(); ++i) {
      if (row[i].first == row[kept].first) {
        row[kept].second += row[i].second;
      } else {
        row[++kept] = row[i];
      }
    }
    row.resize(std::min(row.size(), kept + 1));
    std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    for (std::int64_t n = 0; n < mean.count; ++n) {
      mean.index.push_back(row[static_cast<std::size_t>(n)].first);
      mean.weight.push_back(row[static_cast<std::size_t>(n)].second);
    }
  }
  return mean;
}

AttentionMatrix mean_of(const std::vector<AttentionMap>& maps) {
  if (maps.empty()) return {};
  if (maps.front().largest) return mean_of_largest(maps).dense();
  const AttentionMatrix& first = maps.front().weights;
  std::vector<LayerWeights> layers;
  for (const AttentionMap& map : maps) {
    const AttentionMatrix& next = map.weights;
    if (next.rows != first.rows || next.columns != first.columns) {
      throw ShapeError(
          fmt::format("mean of heads: [{},{}] and [{},{}] differ", first.rows, first.columns, next.rows, next.columns));
    }
    layers.push_back({next.values.data(), 1, 0, next.columns});
  }
  AttentionMatrix mean{first.rows, first.columns, std::vector<float>(first.values.size())};
  mean_over_heads(layers, {}, first.rows, first.columns, mean.values.data());
  return mean;
}

AttentionMatrix chosen_weights(const AttentionRecord& record, std::optional<int> layer, std::optional<int> head) {
  if (!layer && !head) return record.largest ? record.largest.dense() : record.weights;
  const bool any_cross = std::any_of(record.maps.begin(), record.maps.end(),
                                     [](const AttentionMap& one) { return one.kind == AttentionKind::cross; });
  std::vector<AttentionMap> matching;
  for (const AttentionMap& one : record.maps) {
    if ((!any_cross || one.kind == AttentionKind::cross) && (!layer || one.layer == *layer) &&
        (!head || one.head == *head)) {
      matching.push_back(one);
    }
  }
  if (matching.empty()) {
    const std::string wanted =
        (layer ? fmt::format(" layer {}", *layer) : "") + (head ? fmt::format(" head {}", *head) : "");
    throw UsageError(fmt::format("no weights of{}: the record has {}", wanted,
                                 record.maps.empty()
                                     ? "no maps of single heads"
                                     : fmt::format("{} heads of other numbers or kinds", record.maps.size())));
  }
  return mean_of(matching);
}

AttentionRecord record_of_kind(const AttentionRecord& record, AttentionKind kind) {
  AttentionRecord out;
  out.title = record.title;
  if (kind == AttentionKind::cross) out.picture = record.picture;
  for (const AttentionMap& map : record.maps) {
    if (map.kind == kind) out.maps.push_back(map);
  }
  if (out.maps.empty()) {
    throw UsageError("kind", fmt::format("the record has no {} attention", name_of(kind)));
  }
  out.source = out.maps[0].keys;
  out.target = out.maps[0].queries;
  if (out.maps[0].largest) {
    out.largest = mean_of_largest(out.maps);
  } else {
    out.weights = mean_of(out.maps);
  }
  return out;
}

namespace {

void check(const LargestWeights& m, std::size_t queries, std::size_t keys) {
  const std::size_t size = queries * static_cast<std::size_t>(m.count);
  const bool inside = std::all_of(m.index.begin(), m.index.end(), [&m](auto i) { return i >= 0 && i < m.columns; });
  if (m.rows != static_cast<std::int64_t>(queries) || m.columns != static_cast<std::int64_t>(keys) ||
      m.index.size() != size || m.weight.size() != size || !inside) {
    throw ShapeError(fmt::format("attention record: largest weights of [{},{}] for {} target and {} source tokens",
                                 m.rows, m.columns, queries, keys));
  }
}

void check(const AttentionMatrix& m, std::size_t queries, std::size_t keys) {
  if (m.rows != static_cast<std::int64_t>(queries) || m.columns != static_cast<std::int64_t>(keys) ||
      m.values.size() != queries * keys) {
    throw ShapeError(fmt::format("attention record: weights [{},{}] for {} target and {} source tokens", m.rows,
                                 m.columns, queries, keys));
  }
}

}  // namespace

void check(const AttentionRecord& record) {
  const auto either = [](const auto& holder, std::size_t queries, std::size_t keys) {
    if (holder.largest) {
      check(holder.largest, queries, keys);
    } else {
      check(holder.weights, queries, keys);
    }
  };
  for (const RecordLabel& one : record.labels) {
    if (!one.saliency.empty() && one.saliency.size() != record.source.size()) {
      throw ShapeError(
          fmt::format("attention record: saliency of {} tokens for {}", one.saliency.size(), record.source.size()));
    }
  }
  // A classifier may have no attention.
  const bool without = !record.labels.empty() && record.weights.values.empty() && !record.largest;
  if (!without) either(record, record.target.size(), record.source.size());
  for (const AttentionMap& map : record.maps) either(map, map.queries.size(), map.keys.size());
  if (!record.copied.empty() && record.copied.size() != record.target.size()) {
    throw ShapeError(fmt::format("attention record: {} shares of copying for {} target tokens", record.copied.size(),
                                 record.target.size()));
  }
  const RecordedPicture& p = record.picture;
  if (p.rows != 0 && static_cast<std::size_t>(p.rows) * static_cast<std::size_t>(p.columns) != record.source.size()) {
    throw ShapeError(fmt::format("attention record: a picture of {} rows and {} columns for {} regions", p.rows,
                                 p.columns, record.source.size()));
  }
}

}  // namespace fovea
