#include "base/arena.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "fovea/error.hpp"

namespace fovea {
namespace {

constexpr std::size_t kAlign = 64;
constexpr std::size_t kHuge = std::size_t{2} << 20;

// Sits in the 64 bytes before the memory that is handed out.
struct Arena;
struct Header {
  Header* next;
  std::size_t size_class;
  Arena* owner;
};
static_assert(sizeof(Header) <= kAlign);

// Eight classes per doubling, from 64 bytes on.
constexpr std::size_t kClasses = 8 * 48;

std::size_t class_of(std::size_t bytes) {
  const std::size_t units = (bytes + kAlign - 1) / kAlign;
  if (units <= 8) return units;
  const auto log = static_cast<std::size_t>(std::bit_width(units - 1)) - 1;  // 2^log < units <= 2^(log+1), log >= 3
  const std::size_t step = std::size_t{1} << (log - 3);
  const std::size_t eighth = (units - (std::size_t{1} << log) + step - 1) / step;  // 1 to 8
  return 8 + (log - 3) * 8 + eighth;
}

std::size_t class_bytes(std::size_t size_class) {
  if (size_class <= 8) return size_class * kAlign;
  const std::size_t log = 3 + (size_class - 9) / 8;
  const std::size_t eighth = (size_class - 9) % 8 + 1;
  return ((std::size_t{1} << log) + eighth * (std::size_t{1} << (log - 3))) * kAlign;
}

// Each thread has an arena of its own, so that what a thread does in a step, and with it which blocks it finds free,
// does not depend on the others' timing. A block goes back to the arena it came from, whoever releases it.
struct Arena {
  std::mutex mutex;
  std::array<Header*, kClasses> free{};
  ArenaStats stats;
  bool idle = false;  // its thread has ended; the next new thread takes it over
};

// Never destroyed: tensors in static storage may be released after any destructor has run.
struct Registry {
  std::mutex mutex;
  std::vector<Arena*> arenas;
};
Registry& registry() {
  static auto* instance = new Registry;
  return *instance;
}

Arena* claim() {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  for (Arena* arena : r.arenas) {
    if (std::exchange(arena->idle, false)) return arena;
  }
  r.arenas.push_back(new Arena);
  return r.arenas.back();
}

struct Claim {
  Arena* arena = claim();
  Claim() = default;
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  ~Claim() {
    const std::lock_guard lock(registry().mutex);
    arena->idle = true;  // stays usable, under its mutex, for what the ending thread still does
  }
};

Arena& own_arena() {
  static thread_local const Claim mine;
  return *mine.arena;
}

}  // namespace

void* arena_allocate(std::size_t bytes) {
  if (bytes > (std::size_t{1} << 46)) throw OutOfMemory(fmt::format("out of memory: {} bytes were asked for", bytes));
  const std::size_t size_class = class_of(bytes == 0 ? 1 : bytes);
  const std::size_t usable = class_bytes(size_class);
  Arena& a = own_arena();
  const std::lock_guard lock(a.mutex);
  Header* block = a.free[size_class];
  if (block != nullptr) {
    a.free[size_class] = block->next;
  } else {
    // Large blocks on huge pages: a training step walks through hundreds of megabytes.
    const bool huge = usable >= 2 * kHuge;
    const std::size_t align = huge ? kHuge : kAlign;
    const std::size_t total = (usable + kAlign + align - 1) / align * align;
    void* raw = std::aligned_alloc(align, total);
    if (raw == nullptr) throw OutOfMemory(fmt::format("out of memory: {} bytes were asked for", bytes));
    if (huge) (void)madvise(raw, total, MADV_HUGEPAGE);
    block = new (raw) Header{nullptr, size_class, &a};
    a.stats.held_bytes += usable;
    ++a.stats.system_allocations;
  }
  a.stats.used_bytes += usable;
  return reinterpret_cast<std::byte*>(block) + kAlign;
}

void arena_release(void* memory) noexcept {
  if (memory == nullptr) return;
  auto* block = reinterpret_cast<Header*>(static_cast<std::byte*>(memory) - kAlign);
  Arena& a = *block->owner;
  const std::lock_guard lock(a.mutex);
  a.stats.used_bytes -= class_bytes(block->size_class);
  block->next = a.free[block->size_class];
  a.free[block->size_class] = block;
}

ArenaStats arena_stats() {
  ArenaStats total;
  Registry& r = registry();
  const std::lock_guard all(r.mutex);
  for (Arena* a : r.arenas) {
    const std::lock_guard lock(a->mutex);
    total.held_bytes += a->stats.held_bytes;
    total.used_bytes += a->stats.used_bytes;
    total.system_allocations += a->stats.system_allocations;
  }
  return total;
}

void arena_trim() {
  Registry& r = registry();
  const std::lock_guard all(r.mutex);
  for (Arena* a : r.arenas) {
    const std::lock_guard lock(a->mutex);
    for (std::size_t c = 0; c < kClasses; ++c) {
      while (Header* block = a->free[c]) {
        a->free[c] = block->next;
        a->stats.held_bytes -= class_bytes(c);
        std::free(block);
      }
    }
  }
}

}  // namespace fovea
