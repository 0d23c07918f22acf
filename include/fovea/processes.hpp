// Several processes, on one machine or many, that work on one training or one text.
#pragma once

#include "fovea/export.hpp"

namespace FOVEA_API fovea {

/// While one lives, the processes that mpirun started work together: train() and Translator share their work out. Open
/// MPI's library is loaded at run time, and only when mpirun (or srun with PMIx) started this process; else the group
/// is this process alone.
///
///     fovea::ProcessGroup group;
///     fovea::train(job);  // in every process; rank 0 writes the model folder
class ProcessGroup {
 public:
  /// Throws Error when mpirun started this process and Open MPI's library cannot be loaded.
  ProcessGroup();
  /// Waits for the others, unless abort() was called.
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  /// The rank of this process, 0 to count() - 1.
  [[nodiscard]] int rank() const;
  /// The number of processes.
  [[nodiscard]] int count() const;
  /// Ends all processes with this exit code; does nothing in a group of one.
  void abort(int code);
};

/// How long a process waits for another before it gives up with an Error that names it; at first half an hour.
void set_process_timeout(double seconds);

}  // namespace fovea
