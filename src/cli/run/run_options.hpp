// The options of fovea run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "fovea/generate_options.hpp"
#include "fovea/model/folder.hpp"

namespace fovea::cli {

struct RunOptions {
  std::vector<std::string> models;
  std::string attention_file, alignments_file, intervene_file;
  std::string kind = "cross";
  bool kind_given = false;
  GenerateOptions how;
  bool scores = false;
  bool strict = false;
  int top = 0;
  bool saliency = false;
  bool all_heads = false;
  int threads = 0;
  LoadOptions load{.in_place = true};

  /// Whether every layer and head of each line is needed.
  [[nodiscard]] bool wants_maps() const { return all_heads || kind != "cross"; }
  /// Whether --attention lists them one by one.
  [[nodiscard]] bool lists_heads() const { return all_heads || kind == "all"; }
  /// The kinds that --kind names. Throws UsageError for an unknown name.
  [[nodiscard]] std::vector<AttentionKind> kinds() const;
};

/// Adds the options of a command that are numbers and switches of GenerateOptions, except those named.
void add_generate_options(CLI::App& command, GenerateOptions& options, std::initializer_list<std::string_view> except);
/// The help text of an option in the table of tasks.
[[nodiscard]] std::string help_of(std::string_view name);
/// Throws UsageError naming the first option on the command line that a model of the task does not take.
void check_given_options(const CLI::App& command, Task task);

/// Runs models that write text, or a classifier. `configs` are those of the models' folders.
void run_writer(const RunOptions& options, const ModelConfig& first, const Streams& streams);
void run_classifier(const RunOptions& options, const ModelConfig& first, const Streams& streams);

}  // namespace fovea::cli
