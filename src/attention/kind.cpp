#include "fovea/attention/kind.hpp"

#include <fmt/format.h>

#include "fovea/error.hpp"

namespace fovea {

const AttentionKindInfo& info_of(AttentionKind kind) {
  for (const AttentionKindInfo& info : attention_kinds) {
    if (info.kind == kind) return info;
  }
  throw Error(fmt::format("attention kind {} has no line in attention_kinds", static_cast<int>(kind)));
}

std::string_view name_of(AttentionKind kind) {
  return info_of(kind).name;
}

std::string attention_kind_names() {
  std::string names;
  for (const AttentionKindInfo& info : attention_kinds) names += (names.empty() ? "" : ", ") + std::string(info.name);
  return names;
}

AttentionKind attention_kind(std::string_view name) {
  for (const AttentionKindInfo& info : attention_kinds) {
    if (name == info.name) return info.kind;
  }
  throw UsageError("kind", fmt::format("\"{}\" is not one of {}", name, attention_kind_names()));
}

}  // namespace fovea
