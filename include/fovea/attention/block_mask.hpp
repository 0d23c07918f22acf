// Which pairs of query and key are visible, as a sparse map of tiles.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "fovea/export.hpp"

namespace FOVEA_API fovea {

/// Visibility in tiles of 64 queries by 64 keys: hidden tiles cost nothing, full tiles are not checked, and a tile with
/// both has a bit for each pair. Memory grows with the tiles that are not hidden. Build it once and use it in every
/// layer and step: copies share it.
///
///     const auto mask = BlockMask::of(8192, 8192, [](auto q, auto k) { return k <= q && (q - k) % 128 < 64; });
///     attend(x, {.blocks = mask});
class BlockMask {
 public:
  /// Decides one pair, both counted from 0.
  using Predicate = std::function<bool(std::int64_t query, std::int64_t key)>;
  /// The same for one sequence of a batch.
  using BatchPredicate = std::function<bool(std::int64_t batch, std::int64_t query, std::int64_t key)>;
  /// Keys begin to end - 1.
  struct KeyRange {
    std::int64_t begin = 0, end = 0;
  };
  /// Visibility by position, as the options of attend() and `fovea attend` name it.
  struct Pattern {
    bool causal = false;           // key j is visible to query i if j <= i + keys - queries
    std::int64_t window = -1;      // ... and |i + keys - queries - j| <= window; -1: no limit
    std::int64_t dilation = 1;     // ... and the distance is a multiple of this; with `window`
    std::int64_t global_keys = 0;  // the first keys are visible to every query, and the first queries see every key
    std::int64_t prefix = 0;       // with `causal`: the first keys are visible to every query
  };

  BlockMask() = default;  // everything is visible
  /// Asks for every pair once, on the calling thread. What the predicate throws ends the call.
  [[nodiscard]] static BlockMask of(std::int64_t queries, std::int64_t keys, const Predicate& visible);
  /// A map for each sequence of a batch.
  [[nodiscard]] static BlockMask of(std::int64_t batch, std::int64_t queries, std::int64_t keys,
                                    const BatchPredicate& visible);
  /// Query i sees the keys of ranges[i]. Throws UsageError for a range outside 0 to `keys`.
  [[nodiscard]] static BlockMask of_ranges(std::int64_t keys, std::span<const KeyRange> ranges);
  /// Query i sees column[row_start[i]] to column[row_start[i + 1] - 1] (compressed rows). Throws UsageError for rows
  /// that are not ascending and columns outside 0 to keys - 1.
  [[nodiscard]] static BlockMask of_rows(std::int64_t keys, std::span<const std::int64_t> row_start,
                                         std::span<const std::int64_t> column);
  /// Only tiles that the borders of the pattern cross are looked at pair by pair. Throws UsageError naming the field.
  [[nodiscard]] static BlockMask of_pattern(std::int64_t queries, std::int64_t keys, const Pattern& pattern);
  /// Self-attention over packed sequences: ids [batch, tokens], a query sees the keys with its own id.
  [[nodiscard]] static BlockMask of_documents(std::span<const std::int64_t> ids, std::int64_t batch,
                                              std::int64_t tokens);
  /// The pairs that are visible in both. Throws ShapeError unless their sizes are the same.
  [[nodiscard]] BlockMask operator&(const BlockMask& other) const;

  /// Whether anything may be hidden.
  explicit operator bool() const { return map_ != nullptr; }
  [[nodiscard]] std::int64_t batch() const;    // 1: the same for every sequence
  [[nodiscard]] std::int64_t queries() const;  // 0 without a map, as keys()
  [[nodiscard]] std::int64_t keys() const;     // see queries()
  /// Whether query i of a sequence sees key j.
  [[nodiscard]] bool visible(std::int64_t batch, std::int64_t query, std::int64_t key) const;
  /// Tiles that are hidden, full and partly visible, over the batch.
  struct Tiles {
    std::int64_t hidden = 0, full = 0, partial = 0;
  };
  [[nodiscard]] Tiles tiles() const;
  [[nodiscard]] std::int64_t bytes() const;  // of memory
  /// What a tile is: 0 hidden, 1 partly visible, 2 full.
  [[nodiscard]] int tile(std::int64_t batch, std::int64_t query_tile, std::int64_t key_tile) const;

  struct Map;  // in attention/block_map.hpp
  [[nodiscard]] const std::shared_ptr<const Map>& map() const { return map_; }

 private:
  std::shared_ptr<const Map> map_;
};

}  // namespace fovea
