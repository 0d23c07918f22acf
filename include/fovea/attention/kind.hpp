// The kinds of attention a model can have, by whose queries attend to whose keys.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "fovea/export.hpp"

namespace FOVEA_API fovea {

/// Which queries attend to which keys.
enum class AttentionKind {
  cross,    // the target to the source
  encoder,  // the source to itself
  decoder,  // the target to its own earlier tokens
  pooling,  // a classifier's queries to the source
};

/// Whose tokens queries or keys are.
enum class AttentionSide { source, target };

/// Some layers and heads of a model, counted from 0. An empty field: all.
struct AttentionChoice {
  std::optional<int> layer{}, head{};  // only this one

  /// Whether a head is one of them.
  [[nodiscard]] bool has(int in_layer, int number) const {
    return (!layer || *layer == in_layer) && (!head || *head == number);
  }
};

/// What is known of a kind.
struct AttentionKindInfo {
  AttentionKind kind;           // which one
  std::string_view name;        // in files, options and answers
  AttentionSide queries, keys;  // whose tokens they are
};

/// All of them: a new kind is a line here and its name above.
inline constexpr std::array attention_kinds{
    AttentionKindInfo{AttentionKind::cross, "cross", AttentionSide::target, AttentionSide::source},
    AttentionKindInfo{AttentionKind::encoder, "encoder", AttentionSide::source, AttentionSide::source},
    AttentionKindInfo{AttentionKind::decoder, "decoder", AttentionSide::target, AttentionSide::target},
    AttentionKindInfo{AttentionKind::pooling, "pooling", AttentionSide::target, AttentionSide::source},
};

/// The line of a kind.
[[nodiscard]] const AttentionKindInfo& info_of(AttentionKind kind);
/// "cross", "encoder" …
[[nodiscard]] std::string_view name_of(AttentionKind kind);
/// Throws UsageError naming the possible kinds.
[[nodiscard]] AttentionKind attention_kind(std::string_view name);
/// "cross, encoder, …": for errors and help.
[[nodiscard]] std::string attention_kind_names();

}  // namespace fovea
