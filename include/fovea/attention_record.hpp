// The attention of one output: its tokens, and weights by kind, layer and head. What every task gives and every view,
// file and answer of the server is made from.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

/// Numbers in rows and columns, row after row.
struct AttentionMatrix {
  std::int64_t rows = 0, columns = 0;  // queries and keys
  std::vector<float> values{};         // [rows, columns]
  /// A single weight.
  [[nodiscard]] float at(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
};

/// Which queries attend to which keys.
enum class AttentionKind {
  cross,    // the target to the source
  encoder,  // the source to itself
  decoder,  // the target to its own earlier tokens
};
/// "cross", "encoder" or "decoder".
[[nodiscard]] std::string_view name_of(AttentionKind kind);
/// Throws UsageError naming the possible kinds.
[[nodiscard]] AttentionKind attention_kind(std::string_view name);

/// The weights of one head of one layer, both counted from 0.
struct AttentionMap {
  AttentionKind kind = AttentionKind::cross;   // whose attention it is
  int layer = 0;                               // counted from 0
  int head = 0;                                // counted from 0
  std::vector<std::string> queries{}, keys{};  // their tokens
  AttentionMatrix weights{};                   // [queries, keys]; a row sums to 1
};

/// The attention of one line: what files, answers, pages and pictures are made of.
struct AttentionRecord {
  std::string title{};                          // shown above the picture; may be empty
  std::vector<std::string> source{}, target{};  // tokens, each end of sequence included
  AttentionMatrix weights{};                    // [target, source]: the mean over layers and heads, or the chosen ones
  std::vector<AttentionMap> maps{};             // none, or some or all of the heads one by one
};

/// Throws ShapeError unless every matrix is [queries, keys].
void check(const AttentionRecord& record);
/// The mean over the maps. Throws ShapeError when their shapes differ.
[[nodiscard]] AttentionMatrix mean_of(const std::vector<AttentionMap>& maps);
/// The record's own weights; or, given a layer or a head or both, the mean of the cross-attention maps that match.
/// Throws UsageError when none does.
[[nodiscard]] AttentionMatrix chosen_weights(const AttentionRecord& record, std::optional<int> layer = {},
                                             std::optional<int> head = {});
/// Of the maps of one kind, a record of its own: queries as the target, keys as the source, their mean as the weights.
[[nodiscard]] AttentionRecord record_of_kind(const AttentionRecord& record, AttentionKind kind);

struct AttentionJsonOptions {
  int decimals = 0;  // of the weights; 0: as many as tell one float from the next
};
/// One line of JSON, without its line break:
///
///     {"source": [token…], "target": [token…], "weights": [[number…]…],
///      "attention": [{"kind": "cross", "layer": 0, "head": 1, "queries": [token…], "keys": [token…], "weights": …}…]}
///
/// `attention` holds the maps, where there are some; `title` stands first, where there is one.
[[nodiscard]] std::string to_json(const AttentionRecord& record, const AttentionJsonOptions& how = {});
/// Several sentences of one text as one record: blocks on the diagonal, since sentences do not attend to each other.
/// The zeros between them exist only as text. Throws ShapeError when the sentences have different maps.
[[nodiscard]] std::string to_json(std::span<const AttentionRecord> sentences, const AttentionJsonOptions& how = {});
/// A record from such a line; other fields are passed over. Throws FileError that begins with `where` and names the
/// field.
[[nodiscard]] AttentionRecord parse_attention(std::string_view line, const std::string& where);

}  // namespace fovea
