#include "fovea/attention/block_mask.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "attention/block_map.hpp"
#include "fovea/error.hpp"
#include "fovea/threads.hpp"

namespace fovea {
namespace {

using Int = std::int64_t;
using kernels::kKeyTile;
using kernels::kMapQueries;

/// One tile: queries first to last - 1, keys low to high - 1.
struct TileRange {
  Int first, last, low, high;
  [[nodiscard]] bool operator==(const TileRange&) const = default;
};
enum class TileKind { hidden, partial, full };

/// What is known of a tile without asking for its pairs; partial: ask.
using Classify = std::function<TileKind(Int batch, const TileRange& tile)>;

void check_size(Int batch, Int queries, Int keys) {
  if (batch >= 1 && queries >= 0 && keys >= 0 && keys <= Int{1} << 36) return;
  throw ShapeError(fmt::format("BlockMask: [{},{},{}]: expected at least one sequence, and queries and keys from 0 on",
                               batch, queries, keys));
}

// Fills the map row of tiles by row of tiles; rows are built on several threads and put together in order.
std::shared_ptr<const BlockMask::Map> build(Int batch, Int queries, Int keys, const Classify& classify,
                                            const BlockMask::BatchPredicate& visible, bool threaded = true) {
  check_size(batch, queries, keys);
  auto map = std::make_shared<BlockMask::Map>();
  map->batch = batch;
  map->queries = queries;
  map->keys = keys;
  const Int rows = map->query_tiles();
  struct Row {
    std::vector<std::int32_t> key_tile;
    std::vector<Int> first_word;
    std::vector<std::uint64_t> words;
  };
  std::vector<Row> built(static_cast<std::size_t>(batch * rows));
  parallel_for(batch * rows, threaded ? 1 : batch * rows, [&](Int begin, Int end) {
    for (Int number = begin; number < end; ++number) {
      Row& row = built[static_cast<std::size_t>(number)];
      const Int b = number / rows;
      const Int first = number % rows * kMapQueries;
      for (Int low = 0; low < keys; low += kKeyTile) {
        const TileRange tile{first, std::min(first + kMapQueries, queries), low, std::min(low + kKeyTile, keys)};
        TileKind seen = classify(b, tile);
        std::array<std::uint64_t, kKeyTile> bits{};
        if (seen == TileKind::partial) {
          Int count = 0;
          for (Int k = tile.low; k < tile.high; ++k) {
            for (Int q = tile.first; q < tile.last; ++q) {
              if (!visible(b, q, k)) continue;
              bits[static_cast<std::size_t>(k - tile.low)] |= std::uint64_t{1} << (q - tile.first);
              ++count;
            }
          }
          if (count == 0) seen = TileKind::hidden;
          if (count == (tile.last - tile.first) * (tile.high - tile.low)) seen = TileKind::full;
        }
        if (seen == TileKind::hidden) continue;
        row.key_tile.push_back(static_cast<std::int32_t>(low / kKeyTile));
        row.first_word.push_back(seen == TileKind::full ? -1 : static_cast<Int>(row.words.size()));
        if (seen == TileKind::partial) row.words.insert(row.words.end(), bits.begin(), bits.end());
      }
    }
  });
  for (Int b = 0; b < batch; ++b) {
    map->row_start.push_back(static_cast<Int>(map->key_tile.size()));
    for (Int r = 0; r < rows; ++r) {
      Row& row = built[static_cast<std::size_t>(b * rows + r)];
      const Int words = static_cast<Int>(map->words.size());
      map->key_tile.insert(map->key_tile.end(), row.key_tile.begin(), row.key_tile.end());
      for (const Int word : row.first_word) map->first_word.push_back(word < 0 ? -1 : words + word);
      map->words.insert(map->words.end(), row.words.begin(), row.words.end());
      map->row_start.push_back(static_cast<Int>(map->key_tile.size()));
      row = {};
    }
  }
  for (Int b = 0; b < batch; ++b) {
    map->heads.push_back(
        {map->row_start.data() + b * (rows + 1), map->key_tile.data(), map->first_word.data(), map->words.data()});
  }
  return map;
}

TileKind ask(Int, const TileRange&) {
  return TileKind::partial;
}

// Of a pattern: distances from query to key, position of the query minus the key.
struct PatternMap {
  BlockMask::Pattern how;
  Int offset;

  [[nodiscard]] bool visible(Int query, Int key) const {
    const Int position = query + offset;
    if (how.causal && key > position) return key < how.prefix;
    if (how.window < 0) return true;
    const Int distance = std::abs(position - key);
    if (distance <= how.window && distance % how.dilation == 0) return true;
    return key < how.global_keys || query < how.global_keys || key < how.prefix;
  }
  [[nodiscard]] TileKind classify(const TileRange& t) const {
    const Int nearest = t.first + offset - (t.high - 1);  // the smallest and largest position - key
    const Int farthest = t.last - 1 + offset - t.low;
    const bool past = !how.causal || nearest >= 0;   // nothing is hidden by causality
    const bool future = how.causal && farthest < 0;  // everything is
    const bool special = t.low < std::max(how.global_keys, how.prefix) || t.first < how.global_keys;
    if (special) return TileKind::partial;
    if (future) return TileKind::hidden;
    if (how.window < 0) return past ? TileKind::full : TileKind::partial;
    if (nearest > how.window || farthest < -how.window) return TileKind::hidden;
    const bool inside = nearest >= -how.window && farthest <= how.window;
    return past && inside && how.dilation == 1 ? TileKind::full : TileKind::partial;
  }
};

}  // namespace

Int BlockMask::Map::find(Int b, Int query_tile, Int key) const {
  const Int* rows = row_start.data() + b * (query_tiles() + 1) + query_tile;
  const auto first = key_tile.begin() + rows[0];
  const auto last = key_tile.begin() + rows[1];
  const auto at = std::lower_bound(first, last, static_cast<std::int32_t>(key));
  return at == last || *at != key ? -1 : at - key_tile.begin();
}

BlockMask BlockMask::of(Int queries, Int keys, const Predicate& visible) {
  if (!visible) throw UsageError("BlockMask: the predicate is empty");
  return of(1, queries, keys, [&visible](Int, Int q, Int k) { return visible(q, k); });
}

BlockMask BlockMask::of(Int batch, Int queries, Int keys, const BatchPredicate& visible) {
  BlockMask mask;
  if (!visible) throw UsageError("BlockMask: the predicate is empty");
  mask.map_ = build(batch, queries, keys, ask, visible, false);  // a caller's function may not bear threads
  return mask;
}

BlockMask BlockMask::of_ranges(Int keys, std::span<const KeyRange> ranges) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].begin < 0 || ranges[i].end < ranges[i].begin || ranges[i].end > keys) {
      throw UsageError(fmt::format("BlockMask: range {} is {} to {}: expected ascending keys from 0 to {}", i,
                                   ranges[i].begin, ranges[i].end, keys));
    }
  }
  const auto range = [ranges](Int q) { return ranges[static_cast<std::size_t>(q)]; };
  const auto classify = [&](Int, const TileRange& t) {
    Int visible = 0;
    for (Int q = t.first; q < t.last; ++q) {
      visible += std::max<Int>(0, std::min(range(q).end, t.high) - std::max(range(q).begin, t.low));
    }
    const Int all = (t.last - t.first) * (t.high - t.low);
    return visible == 0 ? TileKind::hidden : visible == all ? TileKind::full : TileKind::partial;
  };
  BlockMask mask;
  mask.map_ = build(1, static_cast<Int>(ranges.size()), keys, classify,
                    [&](Int, Int q, Int k) { return k >= range(q).begin && k < range(q).end; });
  return mask;
}

BlockMask BlockMask::of_rows(Int keys, std::span<const Int> row_start, std::span<const Int> column) {
  const auto columns = static_cast<Int>(column.size());
  if (row_start.empty() || row_start.front() != 0 || row_start.back() != columns ||
      !std::is_sorted(row_start.begin(), row_start.end())) {
    throw UsageError(
        fmt::format("BlockMask: row_start: expected ascending numbers from 0 to {}, the number of columns", columns));
  }
  std::vector<Int> sorted(column.begin(), column.end());
  const auto row = [&](Int q) {
    const auto at = static_cast<std::size_t>(q);
    return std::span<Int>(sorted).subspan(static_cast<std::size_t>(row_start[at]),
                                          static_cast<std::size_t>(row_start[at + 1] - row_start[at]));
  };
  const Int queries = static_cast<Int>(row_start.size()) - 1;
  for (Int q = 0; q < queries; ++q) {
    const std::span<Int> keys_of = row(q);
    std::sort(keys_of.begin(), keys_of.end());
    if (!keys_of.empty() && (keys_of.front() < 0 || keys_of.back() >= keys)) {
      throw UsageError(fmt::format("BlockMask: query {} has a key outside 0 to {}", q, keys - 1));
    }
  }
  const auto any = [&](Int, const TileRange& t) {
    for (Int q = t.first; q < t.last; ++q) {
      const std::span<Int> keys_of = row(q);
      const auto at = std::lower_bound(keys_of.begin(), keys_of.end(), t.low);
      if (at != keys_of.end() && *at < t.high) return TileKind::partial;
    }
    return TileKind::hidden;
  };
  BlockMask mask;
  mask.map_ = build(1, queries, keys, any, [&](Int, Int q, Int k) {
    const std::span<Int> keys_of = row(q);
    return std::binary_search(keys_of.begin(), keys_of.end(), k);
  });
  return mask;
}

BlockMask BlockMask::of_pattern(Int queries, Int keys, const Pattern& pattern) {
  const auto refuse = [](const char* field, Int value, const char* expected) {
    throw UsageError(field, fmt::format("must be {}, is {}", expected, value));
  };
  if (pattern.window < -1) refuse("window", pattern.window, "0 or more, or -1 for no limit");
  if (pattern.dilation < 1) refuse("dilation", pattern.dilation, "at least 1");
  if (pattern.global_keys < 0) refuse("global", pattern.global_keys, "0 or more");
  if (pattern.prefix < 0) refuse("prefix", pattern.prefix, "0 or more");
  if (pattern.dilation > 1 && pattern.window < 0) throw UsageError("dilation", "goes with window");
  if (pattern.global_keys > 0 && pattern.window < 0) throw UsageError("global", "goes with window");
  if (pattern.prefix > 0 && !pattern.causal) throw UsageError("prefix", "goes with causal");
  const PatternMap map{pattern, keys - queries};
  BlockMask mask;
  mask.map_ = build(
      1, queries, keys, [&map](Int, const TileRange& t) { return map.classify(t); },
      [&map](Int, Int q, Int k) { return map.visible(q, k); });
  return mask;
}

BlockMask BlockMask::of_documents(std::span<const Int> ids, Int batch, Int tokens) {
  check_size(batch, tokens, tokens);
  if (static_cast<Int>(ids.size()) != batch * tokens) {
    throw ShapeError(
        fmt::format("BlockMask: {} document ids: expected [{},{}], one for each token", ids.size(), batch, tokens));
  }
  const auto id = [ids, tokens](Int b, Int t) { return ids[static_cast<std::size_t>(b * tokens + t)]; };
  const auto classify = [&](Int b, const TileRange& t) {
    const auto bounds = [&](Int from, Int to) {
      const auto begin = ids.begin() + b * tokens;
      const auto [low, high] = std::minmax_element(begin + from, begin + to);
      return std::pair(*low, *high);
    };
    const auto [qlow, qhigh] = bounds(t.first, t.last);
    const auto [klow, khigh] = bounds(t.low, t.high);
    if (qlow > khigh || klow > qhigh) return TileKind::hidden;
    return qlow == qhigh && klow == khigh ? TileKind::full : TileKind::partial;
  };
  BlockMask mask;
  mask.map_ = build(batch, tokens, tokens, classify, [&](Int b, Int q, Int k) { return id(b, q) == id(b, k); });
  return mask;
}

BlockMask BlockMask::operator&(const BlockMask& other) const {
  if (!*this) return other;
  if (!other) return *this;
  if (queries() != other.queries() || keys() != other.keys() ||
      (batch() != other.batch() && batch() != 1 && other.batch() != 1)) {
    throw ShapeError(fmt::format("BlockMask: [{},{},{}] and [{},{},{}] do not fit together", batch(), queries(), keys(),
                                 other.batch(), other.queries(), other.keys()));
  }
  const auto seen_of = [](const BlockMask& mask, Int b, const TileRange& t) {
    return mask.tile(mask.batch() == 1 ? 0 : b, t.first / kMapQueries, t.low / kKeyTile);
  };
  const auto sees = [](const BlockMask& mask, Int b, Int q, Int k) {
    return mask.visible(mask.batch() == 1 ? 0 : b, q, k);
  };
  const auto classify = [&](Int b, const TileRange& t) {
    const int least = std::min(seen_of(*this, b, t), seen_of(other, b, t));
    return least == 0 ? TileKind::hidden : least == 2 ? TileKind::full : TileKind::partial;
  };
  BlockMask mask;
  mask.map_ = build(std::max(batch(), other.batch()), queries(), keys(), classify,
                    [&](Int b, Int q, Int k) { return sees(*this, b, q, k) && sees(other, b, q, k); });
  return mask;
}

Int BlockMask::batch() const {
  return map_ ? map_->batch : 1;
}
Int BlockMask::queries() const {
  return map_ ? map_->queries : 0;
}
Int BlockMask::keys() const {
  return map_ ? map_->keys : 0;
}

bool BlockMask::visible(Int batch, Int query, Int key) const {
  if (!map_) return true;
  const Int at = map_->find(batch, query / kMapQueries, key / kKeyTile);
  if (at < 0) return false;
  const Int word = map_->first_word[static_cast<std::size_t>(at)];
  if (word < 0) return true;
  return (map_->words[static_cast<std::size_t>(word + key % kKeyTile)] >> (query % kMapQueries) & 1) != 0;
}

BlockMask::Tiles BlockMask::tiles() const {
  Tiles count;
  if (!map_) return count;
  for (const Int word : map_->first_word) ++(word < 0 ? count.full : count.partial);
  count.hidden = map_->batch * map_->query_tiles() * map_->key_tiles() - count.full - count.partial;
  return count;
}

Int BlockMask::bytes() const {
  if (!map_) return 0;
  return static_cast<Int>(map_->row_start.capacity() * sizeof(Int) + map_->key_tile.capacity() * sizeof(std::int32_t) +
                          map_->first_word.capacity() * sizeof(Int) + map_->words.capacity() * sizeof(std::uint64_t));
}

int BlockMask::tile(Int batch, Int query_tile, Int key_tile) const {
  if (!map_) return 2;
  const Int at = map_->find(batch, query_tile, key_tile);
  if (at < 0) return 0;
  return map_->first_word[static_cast<std::size_t>(at)] < 0 ? 2 : 1;
}

}  // namespace fovea
