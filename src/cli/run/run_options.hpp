// The options of fovea run, and what it does for each kind of model that has a file of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/run.hpp"
#include "fovea/translator.hpp"

namespace fovea::cli {

struct RunOptions {
  std::vector<std::string> models;
  std::string attention_file, alignments_file, intervene_file;
  std::string kind = "cross";
  bool kind_given = false;
  TranslateOptions how;
  bool scores = false;
  bool strict = false;
  int top = 0;
  bool saliency = false;
  bool all_heads = false;
  int threads = 0;
  LoadOptions load{.in_place = true};

  /// Whether each line is traced through every layer and head.
  [[nodiscard]] bool traces() const { return all_heads || kind != "cross"; }
  /// Whether --attention lists them one by one.
  [[nodiscard]] bool lists_heads() const { return all_heads || kind == "all"; }
  /// Whether --attention cannot be written without attention to the source.
  [[nodiscard]] bool needs_cross() const { return !attention_file.empty() && kind == "cross"; }
};

/// A language model: each line and what follows it.
void run_completer(const RunOptions& options, const Streams& streams);

}  // namespace fovea::cli
