#include "fovea/attention_record.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/error.hpp"

namespace fovea {

std::string_view name_of(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::encoder:
      return "encoder";
    case AttentionKind::decoder:
      return "decoder";
    default:
      return "cross";
  }
}

AttentionKind attention_kind(std::string_view name) {
  for (const AttentionKind kind : {AttentionKind::cross, AttentionKind::encoder, AttentionKind::decoder}) {
    if (name == name_of(kind)) return kind;
  }
  throw UsageError(fmt::format("kind: \"{}\" is not one of cross, encoder, decoder", name));
}

AttentionMatrix mean_of(const std::vector<AttentionMap>& maps) {
  if (maps.empty()) return {};
  AttentionMatrix mean = maps.front().weights;
  for (std::size_t h = 1; h < maps.size(); ++h) {
    const AttentionMatrix& next = maps[h].weights;
    if (next.rows != mean.rows || next.columns != mean.columns) {
      throw ShapeError(
          fmt::format("mean of heads: [{},{}] and [{},{}] differ", mean.rows, mean.columns, next.rows, next.columns));
    }
    for (std::size_t i = 0; i < mean.values.size(); ++i) mean.values[i] += next.values[i];
  }
  for (float& value : mean.values) value /= static_cast<float>(maps.size());
  return mean;
}

AttentionMatrix chosen_weights(const AttentionRecord& record, std::optional<int> layer, std::optional<int> head) {
  if (!layer && !head) return record.weights;
  std::vector<AttentionMap> matching;
  for (const AttentionMap& one : record.maps) {
    if (one.kind == AttentionKind::cross && (!layer || one.layer == *layer) && (!head || one.head == *head)) {
      matching.push_back(one);
    }
  }
  if (matching.empty()) {
    const std::string wanted =
        (layer ? fmt::format(" layer {}", *layer) : "") + (head ? fmt::format(" head {}", *head) : "");
    throw UsageError(fmt::format("no weights of{}: the record has {}", wanted,
                                 record.maps.empty()
                                     ? "no single heads, which fovea run --all-heads writes"
                                     : fmt::format("{} heads of other numbers or kinds", record.maps.size())));
  }
  return mean_of(matching);
}

AttentionRecord record_of_kind(const AttentionRecord& record, AttentionKind kind) {
  AttentionRecord out;
  out.title = record.title;
  for (const AttentionMap& map : record.maps) {
    if (map.kind == kind) out.maps.push_back(map);
  }
  if (out.maps.empty()) {
    throw UsageError(fmt::format("kind: the record has no {} attention", name_of(kind)));
  }
  out.source = out.maps[0].keys;
  out.target = out.maps[0].queries;
  out.weights = mean_of(out.maps);
  return out;
}

namespace {

void check(const AttentionMatrix& m, std::size_t queries, std::size_t keys) {
  if (m.rows != static_cast<std::int64_t>(queries) || m.columns != static_cast<std::int64_t>(keys) ||
      m.values.size() != queries * keys) {
    throw ShapeError(fmt::format("attention record: weights [{},{}] for {} target and {} source tokens", m.rows,
                                 m.columns, queries, keys));
  }
}

// `next` behind `all`, on the diagonal.
void append_block(AttentionMatrix& all, const AttentionMatrix& next) {
  AttentionMatrix out{all.rows + next.rows, all.columns + next.columns, {}};
  out.values.assign(static_cast<std::size_t>(out.rows * out.columns), 0.0F);
  const auto copy = [&out](const AttentionMatrix& from, std::int64_t row, std::int64_t column) {
    for (std::int64_t r = 0; r < from.rows; ++r) {
      std::copy_n(from.values.begin() + r * from.columns, from.columns,
                  out.values.begin() + (row + r) * out.columns + column);
    }
  };
  copy(all, 0, 0);
  copy(next, all.rows, all.columns);
  all = std::move(out);
}

void append(std::vector<std::string>& all, const std::vector<std::string>& next) {
  all.insert(all.end(), next.begin(), next.end());
}

}  // namespace

void check(const AttentionRecord& record) {
  check(record.weights, record.target.size(), record.source.size());
  for (const AttentionMap& map : record.maps) check(map.weights, map.queries.size(), map.keys.size());
}

void append_record(AttentionRecord& all, const AttentionRecord& next) {
  if (all.source.empty() && all.target.empty()) {
    all = next;
    return;
  }
  if (all.maps.size() != next.maps.size()) {
    throw ShapeError(
        fmt::format("attention record: {} and {} maps cannot be joined", all.maps.size(), next.maps.size()));
  }
  append(all.source, next.source);
  append(all.target, next.target);
  append_block(all.weights, next.weights);
  for (std::size_t i = 0; i < all.maps.size(); ++i) {
    append(all.maps[i].queries, next.maps[i].queries);
    append(all.maps[i].keys, next.maps[i].keys);
    append_block(all.maps[i].weights, next.maps[i].weights);
  }
}

}  // namespace fovea
