// The processes that work on one job: those that mpirun started, or this one alone.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "fovea/processes.hpp"

namespace fovea {

/// Bytes for another process.
struct Outgoing {
  int to = 0;
  std::span<const std::byte> bytes{};
};
/// Room for what another process sends.
struct Incoming {
  int from = 0;
  std::span<std::byte> bytes{};
};

/// All of them call the same functions in the same order, from one thread each.
class Processes {
 public:
  Processes() = default;
  virtual ~Processes() = default;
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// Of this process: 0 to count() - 1.
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int count() const = 0;
  /// Sends and receives all of these at the same time. Messages between two processes arrive in the order in which they
  /// are listed, and both sides know their sizes. Throws Error naming the rank that does not answer.
  virtual void exchange(std::span<const Outgoing> send, std::span<const Incoming> receive) = 0;

  [[nodiscard]] bool first() const { return rank() == 0; }
  [[nodiscard]] bool alone() const { return count() == 1; }
};

/// Those of the ProcessGroup that lives (fovea/processes.hpp); else this one alone.
[[nodiscard]] Processes& processes();

/// What each process has given, in the order of ranks.
[[nodiscard]] std::vector<std::string> gather(Processes& processes, const std::string& own);
/// The same, for rank 0 alone; nothing for the others.
[[nodiscard]] std::vector<std::string> gather_at_first(Processes& processes, const std::string& own);
/// What rank 0 has given.
[[nodiscard]] std::string broadcast(Processes& processes, const std::string& of_first);
/// Returns when all have called it.
void wait_for_all(Processes& processes);

}  // namespace fovea
