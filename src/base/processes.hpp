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

/// All of them call the same functions in the same order, from one thread each at a time.
class Processes {
 public:
  Processes() = default;
  virtual ~Processes() = default;
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// Of this process: 0 to count() - 1.
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int count() const = 0;
  /// Begins to send and receive all of these and returns a ticket for it; the bytes must stay until it is done.
  /// Messages between two processes that have the same channel, 0 to 16,000, arrive in the order in which they were
  /// begun and are listed, and both sides know their sizes. Exchanges of different channels may begin in any order.
  [[nodiscard]] virtual int start(int channel, std::span<const Outgoing> send, std::span<const Incoming> receive) = 0;
  /// Makes progress on messages; true when all of the ticket's are complete, which ends the ticket.
  [[nodiscard]] virtual bool done(int ticket) = 0;
  /// Until they are. Throws Error naming the rank that does not answer.
  virtual void wait(int ticket) = 0;

  /// All of it, on channel 0.
  void exchange(std::span<const Outgoing> send, std::span<const Incoming> receive) { wait(start(0, send, receive)); }

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
