// Softmax attention of one head of one sequence, tiled: no [queries, keys] array ever exists.
//
// A row is computed by a chain of operations over keys in ascending order, in tiles at fixed places. The chain depends
// neither on the other rows nor on the padding, so a sequence gives the same bytes in any batch and on any number of
// threads.
#pragma once

#include <cstdint>

namespace fovea::kernels {

/// Rows or keys [begin, end).
struct Range {
  std::int64_t begin = 0, end = 0;
};

/// Keys are visited in tiles that begin at multiples of kKeyTile; the gradient of the queries is summed over keys in
/// chunks that begin at multiples of kKeyChunk, and chunk by chunk after that. A backward call takes one such chunk,
/// and rows that begin at a multiple of kRowBlock.
constexpr std::int64_t kKeyTile = 64;
constexpr std::int64_t kKeyChunk = 512;
constexpr std::int64_t kRowBlock = 128;

/// A bias counts as at least this: times log2 e it is still finite, and only -inf hides.
constexpr float kLowestBias = -2.3e38F;

/// Queries of a tile of TileMap. Its keys are kKeyTile.
constexpr std::int64_t kMapQueries = 64;

/// The pairs that are visible, as a sparse map of tiles of kMapQueries queries by kKeyTile keys. Tiles that are not
/// listed are hidden.
struct TileMap {
  const std::int64_t* row_start = nullptr;  // [tiles of queries + 1]: where each row of tiles begins in `key_tile`
  const std::int32_t* key_tile = nullptr;  // the tiles of a row, ascending; key_tile[n] covers keys from 64 key_tile[n]
  const std::int64_t* first_word =
      nullptr;                           // of each tile: its first word in `words`, or -1: all its pairs are visible
  const std::uint64_t* words = nullptr;  // kKeyTile words a tile: bit b of word a says whether query b sees key a
};

/// Which keys a query may attend to, and what is added to its scores. All of it is resolved per tile: tiles that no
/// query of the tile may attend to are skipped.
struct Visibility {
  std::int64_t length = 0;             // keys from here on are padding; the arrays there are not read
  std::int64_t offset = 0;             // for causal, window and ALiBi: the position of query i is i + offset
  bool causal = false;                 // attends to keys j <= i + offset
  std::int64_t window = -1;            // attends to keys |i + offset - j| <= window; -1: no limit
  const std::uint8_t* mask = nullptr;  // [queries, keys], not 0 = visible
  std::int64_t mask_stride = 0;        // between rows; 0: one row for all queries
  const float* bias = nullptr;         // added to the scaled score; -inf hides the key
  std::int64_t bias_row = 0;           // distances between rows and columns of bias; 0 broadcasts
  std::int64_t bias_column = 0;
  float alibi_slope = 0;  // score -= slope * |i + offset - j|
  TileMap map;            // row_start null: every pair is visible
};

/// A tile of scores in natural units: the score of key `key0 + a` and query `query0 + b` is at
/// a * key_stride + b * query_stride of the array that comes with it.
struct ScoreTile {
  std::int64_t batch = 0, head = 0;
  std::int64_t query0 = 0, key0 = 0;
  std::int64_t queries = 0, keys = 0;
  std::int64_t query_stride = 0, key_stride = 0;
};

/// What is done to scores before bias, ALiBi and masks: score = modify(softcap * tanh(score / softcap)).
struct ScoreChange {
  float softcap = 0;                 // 0: none
  std::int64_t batch = 0, head = 0;  // where the head is, for ScoreTile
  const void* modifiers = nullptr;   // passed to the functions
  /// Changes the scores of a tile in place. Pairs that are hidden may be among them. Must not throw.
  void (*modify)(const void* modifiers, const ScoreTile& tile, float* scores) = nullptr;
  /// `before` is what modify() was given; `gradient` of its result becomes that of its argument. Must not throw.
  void (*modify_backward)(const void* modifiers, const ScoreTile& tile, const float* before, float* gradient) = nullptr;

  explicit operator bool() const { return softcap > 0 || modify != nullptr; }
};

/// Dropout on weights: a counter-based mask from seed and (counter + i * keys + j), the same forward and backward.
struct WeightDropout {
  float rate = 0;
  std::uint64_t seed = 0;
  std::uint64_t counter = 0;
};

/// softmax(scale * q k' + bias) v. Row r of an array is at pointer + r * stride.
///
/// `peak` and `mass` are what the backward pass and the weights are computed from: log-sum-exp = (peak + log2 mass) /
/// log2 e. They are kept apart because one float cannot hold a peak of 1e30 and a sum of 4. Scores are measured in
/// base 2 inside, so that each weight is one exp2.
struct DotHead {
  std::int64_t queries = 0, keys = 0, dim = 0, value_dim = 0;
  const float* q = nullptr;  // [queries, dim]
  const float* k = nullptr;  // [keys, dim]
  const float* v = nullptr;  // [keys, value_dim]
  std::int64_t q_stride = 0, k_stride = 0, v_stride = 0;
  float scale = 1;
  Visibility visibility;
  ScoreChange change;
  const float* sink = nullptr;  // a logit that takes part in the sum and has no value; null: none
  WeightDropout dropout;
  float* out = nullptr;  // [queries, value_dim]
  std::int64_t out_stride = 0;
  float* peak = nullptr;  // [queries], the largest score times log2 e; -inf for a query without visible keys
  float* mass = nullptr;  // [queries], the sum of exp2(score * log2 e - peak); 0 for a query without visible keys
};

/// softmax(w' tanh(a_i + b_j)) v, with a = W q and b = U k (+ bias) computed before: the additive family.
struct AdditiveHead {
  std::int64_t queries = 0, keys = 0, dim = 0, value_dim = 0;
  const float* a = nullptr;  // [queries, dim]
  const float* b = nullptr;  // [keys, dim]
  const float* w = nullptr;  // [dim]
  const float* v = nullptr;  // [keys, value_dim]
  std::int64_t a_stride = 0, b_stride = 0, v_stride = 0;
  Visibility visibility;
  ScoreChange change;
  const float* sink = nullptr;  // as in DotHead
  WeightDropout dropout;
  float* out = nullptr;  // [queries, value_dim]
  std::int64_t out_stride = 0;
  float* peak = nullptr;  // as in DotHead
  float* mass = nullptr;
};

/// Where a gradient goes: added to what is there, or written over it. Null: not wanted.
struct GradRows {
  float* data = nullptr;
  std::int64_t stride = 0;
  bool add = false;
};

/// What a backward pass is given in addition to the head (with out, peak and mass as the forward pass left them).
struct AttentionGrads {
  const float* dout = nullptr;  // [queries, value_dim]
  std::int64_t dout_stride = 0;
  const float* dlog_sum = nullptr;  // [queries], of the log-sum-exp of each query; null: 0
  GradRows dq;                      // [queries, dim]; additive: of a
  GradRows dk;                      // [keys, dim]; additive: of b
  GradRows dv;                      // [keys, value_dim]
  float* dw = nullptr;              // additive: [dim], added to
  float* dbias = nullptr;           // added to, at dbias + i * dbias_row + j * dbias_column; null: not wanted
  std::int64_t dbias_row = 0, dbias_column = 0;
};

/// What is wanted of the weights of rows [begin, end): row i's results are at index i - begin. Null: not wanted.
/// Weights are those before dropout.
struct WeightsWanted {
  float* weights = nullptr;  // [rows, keys]
  std::int64_t weights_stride = 0;
  std::int64_t top = 0;               // at most the number of keys
  std::int64_t* top_index = nullptr;  // [rows, top], the largest weights; of equal ones the lower index first
  float* top_weight = nullptr;        // [rows, top]
  float* column_sums = nullptr;       // [keys], added to
  float* entropy = nullptr;           // [rows], in nats
};

/// All are serial. `scratch` is 64-byte aligned memory for as many floats as scratch() says; its content means
/// nothing before and after a call.
struct AttentionKernels {
  std::int64_t (*scratch)(std::int64_t keys, std::int64_t dim, std::int64_t value_dim);
  /// out, peak and mass of the rows.
  void (*dot_forward)(const DotHead& head, Range rows, float* scratch);
  /// What the pairs of `rows` and `keys` contribute to the gradients: dk, dv of these keys, dq of these rows, dbias.
  /// At most kKeyChunk keys from a multiple of kKeyChunk on; rows from a multiple of kRowBlock on.
  void (*dot_backward)(const DotHead& head, const AttentionGrads& grads, Range rows, Range keys, float* scratch);
  void (*dot_weights)(const DotHead& head, const WeightsWanted& wanted, Range rows, float* scratch);
  void (*additive_forward)(const AdditiveHead& head, Range rows, float* scratch);
  void (*additive_backward)(const AdditiveHead& head, const AttentionGrads& grads, Range rows, Range keys,
                            float* scratch);
  void (*additive_weights)(const AdditiveHead& head, const WeightsWanted& wanted, Range rows, float* scratch);
};

}  // namespace fovea::kernels
