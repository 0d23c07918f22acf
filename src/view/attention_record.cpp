#include "fovea/attention_record.hpp"

#include <fmt/format.h>

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
                                     ? "no maps of single heads"
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

}  // namespace

void check(const AttentionRecord& record) {
  check(record.weights, record.target.size(), record.source.size());
  for (const AttentionMap& map : record.maps) check(map.weights, map.queries.size(), map.keys.size());
}

}  // namespace fovea
