// The attention of one output: its tokens, and weights by kind, layer and head. What every task gives and every view,
// file and answer of the server is made from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/attention/kind.hpp"

namespace FOVEA_API fovea {

/// Numbers in rows and columns, row after row.
struct AttentionMatrix {
  std::int64_t rows = 0, columns = 0;  // queries and keys
  std::vector<float> values{};         // [rows, columns]
  /// A single weight.
  [[nodiscard]] float at(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
};

/// The largest weights of each query, largest first, where all of them would be too many.
struct LargestWeights {
  std::int64_t rows = 0, columns = 0;  // queries and keys
  std::int64_t count = 0;              // of each query; 0: there are none
  std::vector<std::int64_t> index{};   // [rows, count]: the keys
  std::vector<float> weight{};         // [rows, count]

  explicit operator bool() const { return count > 0; }  // whether there are some
  /// All weights, with zeros for those that are not listed. Throws UsageError where that would be too large to draw.
  [[nodiscard]] AttentionMatrix dense() const;
};

/// The weights of one head of one layer, both counted from 0.
struct AttentionMap {
  AttentionKind kind = AttentionKind::cross;   // whose attention it is
  int layer = 0;                               // counted from 0
  int head = 0;                                // counted from 0
  std::vector<std::string> queries{}, keys{};  // their tokens
  AttentionMatrix weights{};                   // [queries, keys]; a row sums to 1. Empty where there is:
  LargestWeights largest{};                    // of a long text
};

/// A label that a classifier could have chosen, and what spoke for it.
struct RecordLabel {
  std::string label{};            // as in the training's targets
  float probability = 0;          // 0 to 1
  std::vector<float> saliency{};  // of each source token: for the label (positive) or against it; may be empty
};

/// The picture that a source stands for: its regions are the source's tokens, row by row from the top, and cover the
/// square in the middle of the picture.
struct RecordedPicture {
  std::string place{};        // a path, or INDEX.tsv#NAME; empty: the source is text
  int rows = 0, columns = 0;  // of the regions
};

/// The attention of one line: what files, answers, pages and pictures are made of.
struct AttentionRecord {
  std::string title{};                          // shown above the picture; may be empty
  std::vector<std::string> source{}, target{};  // tokens, each end of sequence included
  AttentionMatrix weights{};                    // [target, source]: the mean over layers and heads, or the chosen ones
  LargestWeights largest{};                     // in place of `weights` of a long text
  std::vector<float> copied{};  // of a model that copies: how much of each target token's probability came from there
  std::vector<AttentionMap> maps{};   // none, or some or all of the heads one by one
  std::vector<RecordLabel> labels{};  // of a classifier, likeliest first
  RecordedPicture picture{};          // where the source is a picture

  /// Whether it has weights of its own, all or the largest.
  [[nodiscard]] bool has_weights() const { return !weights.values.empty() || largest; }
  /// Whether a target token was rather copied from the source than generated.
  [[nodiscard]] bool is_copied(std::size_t target_token) const {
    return target_token < copied.size() && copied[target_token] >= 0.5F;
  }
};

/// Bytes of heap memory that the weights own.
[[nodiscard]] std::size_t heap_bytes(const LargestWeights& largest);
/// Bytes of heap memory that a map owns.
[[nodiscard]] std::size_t heap_bytes(const AttentionMap& map);
/// Bytes of heap memory that a label owns.
[[nodiscard]] std::size_t heap_bytes(const RecordLabel& label);
/// Bytes of heap memory that a record owns.
[[nodiscard]] std::size_t heap_bytes(const AttentionRecord& record);
/// Throws ShapeError unless every matrix is [queries, keys].
void check(const AttentionRecord& record);
/// The mean over the maps, those with the largest weights only written out. Throws ShapeError when their shapes differ.
[[nodiscard]] AttentionMatrix mean_of(const std::vector<AttentionMap>& maps);
/// The mean over maps that list the largest weights only, as such a list.
[[nodiscard]] LargestWeights mean_of_largest(const std::vector<AttentionMap>& maps);
/// The record's own weights; or, given a layer or a head or both, the mean of the maps that match: those of
/// cross-attention, or where there are none of it, all. Throws UsageError when none does.
[[nodiscard]] AttentionMatrix chosen_weights(const AttentionRecord& record, std::optional<int> layer = {},
                                             std::optional<int> head = {});
/// Of the maps of one kind, a record of its own: queries as the target, keys as the source, their mean as the weights.
[[nodiscard]] AttentionRecord record_of_kind(const AttentionRecord& record, AttentionKind kind);
/// How a record is written.
struct AttentionJsonOptions {
  int decimals = 0;  // of the weights; 0: as many as distinguish one float from the next
};
/// One line of JSON, without its line break:
///
///     {"source": [token…], "target": [token…], "weights": [[number…]…],
///      "attention": [{"kind": "cross", "layer": 0, "head": 1, "queries": [token…], "keys": [token…], "weights": …}…]}
///
/// In place of "weights" of a long text there is "largest": {"index": [[key…]…], "weight": [[number…]…]}, the largest
/// of each query. `attention` holds the maps, where there are some; `copied` a number from 0 to 1 for each target
/// token, of models that copy; `title` comes first, if there is one. If the source is a picture, the line has
/// "picture": {"place": "dog.jpg", "rows": 9, "columns": 9}. A classifier's line has
/// `"labels": [{"label": text, "probability": number, "saliency": [number…]}…]`; its weights may be missing.
[[nodiscard]] std::string to_json(const AttentionRecord& record, const AttentionJsonOptions& how = {});
/// Several sentences of one text as one record: blocks on the diagonal, since sentences do not attend to each other.
/// The zeros between them exist only as text. Throws ShapeError when the sentences have different maps.
[[nodiscard]] std::string to_json(std::span<const AttentionRecord> sentences, const AttentionJsonOptions& how = {});
/// A record from such a line; other fields are passed over. Throws FileError that begins with `where` and names the
/// field.
[[nodiscard]] AttentionRecord parse_attention(std::string_view line, const std::string& where);

}  // namespace fovea
