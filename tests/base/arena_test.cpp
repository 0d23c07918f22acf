#include "base/arena.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "fovea/error.hpp"

namespace fovea {
namespace {

TEST(Arena, EverySizeIsAlignedAndWritableToItsEnd) {
  std::vector<std::pair<unsigned char*, std::size_t>> blocks;
  std::vector<std::size_t> sizes{0, (std::size_t{5} << 20) + 1};
  for (std::size_t n = 1; n <= 1 << 17; n *= 2) {
    for (const std::size_t around : {n - 1, n, n + 1, n + n / 8, n + n / 8 + 1, n + n / 2}) sizes.push_back(around);
  }
  for (const std::size_t n : sizes) {
    auto* memory = static_cast<unsigned char*>(arena_allocate(n));
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0U) << n;
    std::memset(memory, static_cast<int>(blocks.size() % 251), n);
    blocks.emplace_back(memory, n);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {  // no block was written to by its neighbour
    const auto [memory, n] = blocks[i];
    EXPECT_TRUE(std::all_of(memory, memory + n, [i](unsigned char c) { return c == i % 251; })) << n;
    arena_release(memory);
  }
}

TEST(Arena, AClassIsAtMostAnEighthLargerThanWhatWasAsked) {
  for (std::size_t n = 640; n < 3'000'000; n += n / 13 + 1) {
    arena_trim();  // a free block could be larger
    const std::size_t before = arena_stats().used_bytes;
    void* memory = arena_allocate(n);
    const std::size_t taken = arena_stats().used_bytes - before;
    EXPECT_GE(taken, n);
    EXPECT_LE(taken, n + n / 8 + 64) << n;
    arena_release(memory);
    EXPECT_EQ(arena_stats().used_bytes, before);
  }
}

TEST(Arena, AReleasedBlockIsHandedOutAgain) {
  void* first = arena_allocate(5000);
  arena_release(first);
  const auto before = arena_stats().system_allocations;
  void* second = arena_allocate(4990);  // the same class
  EXPECT_EQ(second, first);
  EXPECT_EQ(arena_stats().system_allocations, before);
  arena_release(second);
}

TEST(Arena, ALargeBlockServesForLess) {
  arena_trim();
  void* first = arena_allocate(300'000);
  arena_release(first);
  const std::size_t before = arena_stats().used_bytes;
  void* second = arena_allocate(220'000);
  EXPECT_EQ(second, first);
  void* third = arena_allocate(150'000);
  EXPECT_NE(third, first);
  arena_release(second);
  void* fourth = arena_allocate(150'000);
  EXPECT_NE(fourth, first) << "half of it would be wasted";
  for (void* memory : {third, fourth}) arena_release(memory);
  EXPECT_EQ(arena_stats().used_bytes, before);
}

TEST(Arena, TrimGivesBackWhatIsFreeAndKeepsWhatIsUsed) {
  auto* kept = static_cast<int*>(arena_allocate(sizeof(int)));
  *kept = 7;
  arena_release(arena_allocate(std::size_t{1} << 20));
  arena_trim();
  EXPECT_EQ(arena_stats().held_bytes, arena_stats().used_bytes);
  EXPECT_EQ(*kept, 7);
  arena_release(kept);
}

TEST(Arena, TooMuchIsOutOfMemoryAndNothingBreaks) {
  for (const std::size_t n : {~std::size_t{0}, ~std::size_t{0} - 63, (std::size_t{1} << 46) + 1}) {
    EXPECT_THROW((void)arena_allocate(n), OutOfMemory) << n;
  }
  arena_release(arena_allocate(100));
  arena_release(nullptr);
}

TEST(Arena, BlocksMayBeReleasedByOtherThreads) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 500;
  std::vector<std::vector<void*>> handed(kThreads);
  for (int round = 0; round < 3; ++round) {
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        auto& mine = handed[static_cast<std::size_t>(t)];
        for (void* memory : mine) arena_release(memory);
        mine.clear();
        for (int i = 0; i < kRounds; ++i) {
          const auto n = static_cast<std::size_t>(1 + (i * 37 + t * 11) % 3000);
          void* memory = arena_allocate(n);
          std::memset(memory, t, n);
          if (i % 2 == 0) {
            arena_release(memory);
          } else {
            mine.push_back(memory);
          }
        }
      });
    }
    for (auto& thread : threads) thread.join();
    std::rotate(handed.begin(), handed.begin() + 1, handed.end());
    std::set<void*> all;
    std::size_t count = 0;
    for (const auto& list : handed) {
      all.insert(list.begin(), list.end());
      count += list.size();
    }
    EXPECT_EQ(all.size(), count);  // no block belongs to two
  }
  for (const auto& list : handed) {
    for (void* memory : list) arena_release(memory);
  }
}

TEST(Arena, WorkThatWandersBetweenThreadsFindsItsOwnBlocks) {
  const WorkArena arena;
  const auto work = [&arena] {
    const WorkArena::Use use(arena);
    void* first = arena_allocate(777'777);
    void* second = arena_allocate(777'777);
    arena_release(first);
    arena_release(second);
  };
  work();
  const auto before = arena_stats().system_allocations;
  for (int i = 0; i < 4; ++i) std::thread(work).join();
  EXPECT_EQ(arena_stats().system_allocations, before);
}

TEST(Arena, AWorkArenaEndsWithItsUse) {
  const WorkArena outer;
  const WorkArena inner;
  const auto block = [] {
    void* memory = arena_allocate(555'555);
    arena_release(memory);
    return memory;
  };
  void* own = block();
  void* out = nullptr;
  {
    const WorkArena::Use a(outer);
    out = block();
    {
      const WorkArena::Use b(inner);
      EXPECT_NE(block(), out);
    }
    EXPECT_EQ(block(), out);
  }
  EXPECT_NE(out, own);
  EXPECT_EQ(block(), own);
}

}  // namespace
}  // namespace fovea
