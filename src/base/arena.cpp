#include "base/arena.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "fovea/error.hpp"

extern "C" {
void __asan_poison_memory_region(const volatile void* memory, std::size_t bytes);    // NOLINT
void __asan_unpoison_memory_region(const volatile void* memory, std::size_t bytes);  // NOLINT
}

namespace fovea {
namespace {

constexpr std::size_t kAlign = 64;
constexpr std::size_t kHuge = std::size_t{2} << 20;
constexpr std::size_t kLarge = std::size_t{64} << 10;  // from this size on, a larger free block may serve instead

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kAddressSanitizer = true;
#elif defined(__has_feature)
constexpr bool kAddressSanitizer = __has_feature(address_sanitizer);
#else
constexpr bool kAddressSanitizer = false;
#endif

// Under AddressSanitizer, reading or writing what is not handed out is an error, to the byte.
void hand_out(void* memory, std::size_t bytes, std::size_t usable) {
  if constexpr (kAddressSanitizer) {
    __asan_poison_memory_region(memory, usable);
    __asan_unpoison_memory_region(memory, bytes);
  }
}
void take_back(void* memory, std::size_t usable) {
  if constexpr (kAddressSanitizer) __asan_poison_memory_region(memory, usable);
}

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
constexpr std::size_t kLargest = std::size_t{1} << 46;

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
// does not depend on the others' timing. A block returns to the arena it came from, from any thread.
struct Arena {
  std::mutex mutex;
  std::array<Header*, kClasses> free{};
  ArenaStats stats;
  bool idle = false;  // its thread or work has ended; the next new one takes it over
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

// It stays usable, under its mutex, for what an ending thread still does.
void give_back(Arena* arena) {
  const std::lock_guard lock(registry().mutex);
  arena->idle = true;
}

// What the thread works on at present; null: its own.
thread_local Arena* chosen = nullptr;

Arena& own_arena() {
  if (chosen != nullptr) return *chosen;
  struct Claim {
    Arena* arena = claim();
    Claim() = default;
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    ~Claim() { give_back(arena); }
  };
  static thread_local const Claim mine;
  return *mine.arena;
}

// A block that is free, or null. A large one may be half as large again as it need be: batches differ, a search's
// hypotheses grow and dwindle, and a block for every size they ever have would be gigabytes.
Header* reuse(Arena& a, std::size_t size_class) {
  const std::size_t last = class_bytes(size_class) < kLarge ? size_class : std::min(size_class + 4, kClasses - 1);
  const std::lock_guard lock(a.mutex);
  for (std::size_t c = size_class; c <= last; ++c) {
    Header* block = a.free[c];
    if (block == nullptr) continue;
    a.free[c] = block->next;
    a.stats.used_bytes += class_bytes(c);
    return block;
  }
  return nullptr;
}

// A block from the system, or null when it has none.
Header* fetch(Arena& a, std::size_t size_class, std::size_t usable) {
  // Large blocks on huge pages: a training step walks through hundreds of megabytes.
  const bool huge = usable >= 2 * kHuge;
  const std::size_t align = huge ? kHuge : kAlign;
  const std::size_t total = (usable + kAlign + align - 1) / align * align;
  void* raw = std::aligned_alloc(align, total);
  if (raw == nullptr) return nullptr;
  if (huge) (void)madvise(raw, total, MADV_HUGEPAGE);
  const std::lock_guard lock(a.mutex);
  a.stats.held_bytes += usable;
  a.stats.used_bytes += usable;
  ++a.stats.system_allocations;
  return new (raw) Header{nullptr, size_class, &a};
}

}  // namespace

void* arena_allocate(std::size_t bytes) {
  const std::size_t size_class = bytes > kLargest ? 0 : class_of(bytes == 0 ? 1 : bytes);
  const std::size_t usable = class_bytes(size_class);
  Header* block = nullptr;
  if (size_class != 0) {
    Arena& a = own_arena();
    block = reuse(a, size_class);
    if (block == nullptr) block = fetch(a, size_class, usable);
    if (block == nullptr) {
      arena_trim();  // what all threads keep for later may be enough
      block = fetch(a, size_class, usable);
    }
  }
  if (block == nullptr) throw OutOfMemory(fmt::format("out of memory: {} bytes were asked for", bytes));
  void* memory = reinterpret_cast<std::byte*>(block) + kAlign;
  hand_out(memory, bytes, class_bytes(block->size_class));
  return memory;
}

void arena_release(void* memory) noexcept {
  if (memory == nullptr) return;
  auto* block = reinterpret_cast<Header*>(static_cast<std::byte*>(memory) - kAlign);
  const std::size_t usable = class_bytes(block->size_class);
  take_back(memory, usable);
  Arena& a = *block->owner;
  const std::lock_guard lock(a.mutex);
  a.stats.used_bytes -= usable;
  block->next = a.free[block->size_class];
  a.free[block->size_class] = block;
}

WorkArena::WorkArena() : lists_(claim()) {}
WorkArena::~WorkArena() {
  give_back(static_cast<Arena*>(lists_));
}
WorkArena::Use::Use(const WorkArena& arena) : before_(std::exchange(chosen, static_cast<Arena*>(arena.lists_))) {}
WorkArena::Use::~Use() {
  chosen = static_cast<Arena*>(before_);
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
