// The memory of a BlockMask, as the kernels read it.
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/attention/block_mask.hpp"
#include "kernels/attention.hpp"

namespace fovea {

struct BlockMask::Map {
  std::int64_t batch = 1, queries = 0, keys = 0;
  std::vector<std::int64_t> row_start;   // [batch, query tiles + 1], into the tiles of all sequences
  std::vector<std::int32_t> key_tile;    // [tiles]
  std::vector<std::int64_t> first_word;  // [tiles]; -1: full
  std::vector<std::uint64_t> words;
  std::vector<kernels::TileMap> heads;  // [batch]

  [[nodiscard]] std::int64_t query_tiles() const { return (queries + kernels::kMapQueries - 1) / kernels::kMapQueries; }
  [[nodiscard]] std::int64_t key_tiles() const { return (keys + kernels::kKeyTile - 1) / kernels::kKeyTile; }
  /// The tile's place among the tiles, or -1 where it is hidden.
  [[nodiscard]] std::int64_t find(std::int64_t b, std::int64_t query_tile, std::int64_t key) const;
};

}  // namespace fovea
