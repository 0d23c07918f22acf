// Standard input that the processes of mpirun work on together: rank 0 reads it and writes what all make of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/processes.hpp"
#include "cli/io/gunzip.hpp"
#include "cli/run.hpp"

namespace fovea::cli {

/// Blocks of lines, distributed over the processes. A process that is alone gets all.
///
///     SharedInput input(streams, 4096);
///     while (input.next()) {
///       SharedInput::Outputs own = work(input.lines(), input.first_line());
///       streams.out << input.collect(own).out;  // in the order of lines; nothing but on rank 0
///     }
class SharedInput {
 public:
  /// `block` lines at most for a process at a time.
  SharedInput(const Streams& streams, std::size_t block);

  /// Reads the next lines: as many as can be had at once. False at the end. All processes get the same answer; some may
  /// have no lines. Throws as next_line() does.
  bool next();
  /// This process's lines, and the number of those before them.
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  [[nodiscard]] std::int64_t first_line() const { return first_line_; }

  /// What was made of a block of lines: texts for several files.
  struct Outputs {
    std::string out, err, attention, alignments;
  };
  /// The outputs of all processes, in the order of lines, on rank 0; nothing on the others.
  [[nodiscard]] Outputs collect(Outputs own) const;

 private:
  Processes& processes_;
  TextInput input_;
  std::size_t block_;
  std::int64_t read_ = 0;  // lines, by all
  std::int64_t first_line_ = 0;
  std::vector<std::string> lines_;
};

}  // namespace fovea::cli
