// Where fovea run writes: the outputs of all processes go to rank 0's standard output and files.
#pragma once

#include <optional>
#include <span>

#include "base/whole_file.hpp"
#include "cli/io/shared_input.hpp"
#include "cli/run/run_options.hpp"
#include "fovea/attention_record.hpp"
#include "view/record/attention_file.hpp"

namespace fovea::cli {

class RunOutputs {
 public:
  /// Opens the files. Throws FileError for one that cannot be written.
  RunOutputs(const RunOptions& options, const Streams& streams);

  /// Writes what this process and the others made of a block of lines.
  void write(const SharedInput& input, SharedInput::Outputs own, std::span<const AttentionRecord> records);
  /// Moves the files to their places: both or none.
  void commit();

 private:
  const RunOptions& options_;
  const Streams& streams_;
  std::optional<WholeFile> attention_, alignments_;
};

/// What --attention writes of a record with maps: those of one kind, or all. Throws UsageError where there are none.
[[nodiscard]] AttentionRecord of_asked_kind(const RunOptions& options, AttentionRecord record);

}  // namespace fovea::cli
