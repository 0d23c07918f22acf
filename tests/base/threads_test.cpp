#include "fovea/threads.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "fovea/error.hpp"

namespace fovea {
namespace {

// Another number of threads while it lives.
struct WithThreads {
  explicit WithThreads(int count) : before(threads()) { set_threads(count); }
  ~WithThreads() { set_threads(before); }
  int before;
};

TEST(Threads, EveryItemIsVisitedOnceInChunksThatDoNotDependOnTheThreads) {
  for (const int t : {1, 2, 3, 8}) {
    const WithThreads with(t);
    ASSERT_EQ(threads(), t);
    for (const std::int64_t count : {0, 1, 7, 64, 1000, 1001}) {
      for (const std::int64_t grain : {0, 1, 3, 64, 5000}) {
        std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
        std::atomic<bool> regular{true};
        parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
          const std::int64_t step = std::max<std::int64_t>(1, grain);
          if (begin % step != 0 || end != std::min(begin + step, count)) regular = false;
          for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
        });
        EXPECT_TRUE(regular) << count << " by " << grain;
        for (const auto& v : visits) ASSERT_EQ(v.load(), 1) << count << " by " << grain;
      }
    }
  }
}

TEST(Threads, TheIndexIsBelowTheCountAndZeroOutside) {
  const WithThreads with(3);
  EXPECT_EQ(thread_index(), 0);
  std::atomic<bool> inside{true};
  parallel_for(1000, 1, [&](std::int64_t, std::int64_t) {
    if (thread_index() < 0 || thread_index() >= 3) inside = false;
  });
  EXPECT_TRUE(inside);
  EXPECT_EQ(thread_index(), 0);
}

TEST(Threads, AnExceptionReachesTheCallerAndThePoolLivesOn) {
  const WithThreads with(4);
  for (int round = 0; round < 50; ++round) {
    EXPECT_THROW(parallel_for(100, 1,
                              [&](std::int64_t begin, std::int64_t) {
                                if (begin % 10 == round % 10) throw std::runtime_error("planned");
                              }),
                 std::runtime_error);
    std::atomic<int> visits{0};
    parallel_for(100, 1, [&](std::int64_t, std::int64_t) { ++visits; });
    EXPECT_EQ(visits, 100);
  }
}

TEST(Threads, ANestedCallRunsInItsChunk) {
  const WithThreads with(3);
  std::vector<std::atomic<int>> visits(60 * 50);
  parallel_for(60, 1, [&](std::int64_t outer, std::int64_t) {
    const int index = thread_index();
    parallel_for(50, 7, [&](std::int64_t begin, std::int64_t end) {
      EXPECT_EQ(thread_index(), index);
      for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(outer * 50 + i)];
    });
  });
  for (const auto& v : visits) ASSERT_EQ(v.load(), 1);
}

TEST(Threads, ManyThreadsMayCallAtOnce) {
  const WithThreads with(3);
  std::vector<std::thread> callers;
  callers.reserve(4);
  std::atomic<std::int64_t> total{0};
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        parallel_for(32, 4, [&](std::int64_t begin, std::int64_t end) { total += end - begin; });
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(total, 4 * 200 * 32);
}

TEST(Threads, ManySmallJobsWithPausesBetweenThem) {
  const WithThreads with(4);
  std::atomic<std::int64_t> total{0};
  for (int round = 0; round < 3000; ++round) {
    parallel_for(8, 1, [&](std::int64_t begin, std::int64_t end) { total += end - begin; });
    if (round % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // long enough to fall asleep
  }
  EXPECT_EQ(total, 3000 * 8);
}

TEST(Threads, ResultsAreTheSameBytesForEveryCount) {
  const auto compute = [] {
    std::vector<float> out(997);
    parallel_for(997, 10, [&](std::int64_t begin, std::int64_t end) {
      float sum = 0;  // depends on where the chunk begins
      for (std::int64_t i = begin; i < end; ++i) {
        sum += std::sin(static_cast<float>(i));
        out[static_cast<std::size_t>(i)] = sum;
      }
    });
    return out;
  };
  const auto expected = compute();
  for (const int t : {1, 2, 5}) {
    const WithThreads with(t);
    for (int round = 0; round < 20; ++round) EXPECT_EQ(compute(), expected);
  }
}

TEST(Threads, SignalsAreLeftToTheProgramsOwnThreads) {
  set_threads(1);
  set_threads(4);  // started while this thread takes SIGTERM
  const int own = thread_index();
  std::atomic<int> takers{0};
  for (int round = 0; round < 50; ++round) {
    parallel_for(64, 1, [&](std::int64_t, std::int64_t) {
      sigset_t mask;
      pthread_sigmask(SIG_SETMASK, nullptr, &mask);
      if (thread_index() != own && sigismember(&mask, SIGTERM) == 0) ++takers;
    });
  }
  EXPECT_EQ(takers, 0);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGTERM), 0);
}

TEST(Threads, ANumberThatMakesNoSenseIsRefused) {
  for (const int count : {0, -1, 1025}) EXPECT_THROW(set_threads(count), UsageError) << count;
  const WithThreads with(2);
  EXPECT_THROW(parallel_for(10, 1, [](std::int64_t, std::int64_t) { set_threads(3); }), Error);
  EXPECT_EQ(threads(), 2);
}

}  // namespace
}  // namespace fovea
