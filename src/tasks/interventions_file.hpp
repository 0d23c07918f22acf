// Interventions as JSON, for files and requests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fovea/attention/interventions.hpp"

namespace fovea {

/// Some for every line, some for one.
struct InterventionsFile {
  struct One {
    std::optional<std::int64_t> line;  // counted from 1; empty: every line
    std::variant<AttentionEdit, TokenEdit> edit;
  };
  std::vector<One> all;

  /// What is done in a line, counted from 1.
  [[nodiscard]] Interventions of_line(std::int64_t line) const;
};

/// Reads a list, or an object whose "interventions" is one:
///
///     [{"do": "cut", "kind": "cross", "layer": 0, "head": 1, "query": 2, "key": 3},
///      {"do": "force", "kind": "encoder", "query": 4, "key": 1, "weight": 0.8},
///      {"do": "uniform", "kind": "cross", "layer": 1}, {"do": "temperature", "value": 2},
///      {"do": "silence", "kind": "cross", "layer": 0, "head": 1},
///      {"do": "mask", "token": 3}, {"do": "swap", "token": 3, "with": "dog", "line": 7}]
///
/// Throws FileError that begins with `where` and names the field.
[[nodiscard]] InterventionsFile parse_interventions(std::string_view text, const std::string& where);

}  // namespace fovea
