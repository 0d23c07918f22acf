// Memory for tensors and tape nodes, kept between training steps.
//
// Blocks are 64-byte aligned and come in size classes at most an eighth apart; a released block goes to its class's
// free list and is handed out again, so a loop of fixed shapes reaches malloc only in its first steps. Thread-safe;
// each thread, or each piece of work that holds a WorkArena, has free lists of its own, so that this holds for several
// threads too, whatever their timing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace fovea {

/// Memory that holds at least `bytes`, 64-byte aligned. Throws OutOfMemory.
[[nodiscard]] void* arena_allocate(std::size_t bytes);
void arena_release(void* memory) noexcept;

struct ArenaStats {
  std::size_t held_bytes = 0;            // from the system, in use or free
  std::size_t used_bytes = 0;            // handed out now
  std::uint64_t system_allocations = 0;  // how often the system was asked
};
[[nodiscard]] ArenaStats arena_stats();

/// Gives all free blocks back to the system.
void arena_trim();

/// Free lists for work that wanders between threads, as a training step's parts do: while a Use lives, what its thread
/// asks for comes from here, so that what the work finds free does not depend on which thread runs it. One thread at a
/// time; blocks outlive it.
class WorkArena {
 public:
  WorkArena();
  WorkArena(const WorkArena&) = delete;
  WorkArena& operator=(const WorkArena&) = delete;
  ~WorkArena();

  class Use {
   public:
    explicit Use(const WorkArena& arena);
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use();

   private:
    void* before_;
  };

 private:
  void* lists_;
};

/// For standard containers whose memory should come from the arena.
template <class T>
struct ArenaAllocator {
  using value_type = T;
  ArenaAllocator() = default;
  template <class U>
  ArenaAllocator(const ArenaAllocator<U>&) {}  // NOLINT(google-explicit-constructor)
  T* allocate(std::size_t n) { return static_cast<T*>(arena_allocate(n * sizeof(T))); }
  void deallocate(T* p, std::size_t) noexcept { arena_release(p); }
  bool operator==(const ArenaAllocator&) const = default;
};

}  // namespace fovea
