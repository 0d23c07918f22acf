#include "base/processes.hpp"

#include <gtest/gtest.h>

#include "support/thread_processes.hpp"

namespace fovea {
namespace {

TEST(Processes, OneIsAloneWithoutMpirun) {
  EXPECT_TRUE(processes().alone());
  EXPECT_TRUE(processes().first());
  EXPECT_EQ(gather(processes(), "a"), std::vector<std::string>{"a"});
  EXPECT_EQ(broadcast(processes(), "b"), "b");
}

TEST(Processes, GatherGivesEveryoneWhatEachHas) {
  for (const int count : {1, 2, 3, 7}) {
    test::in_processes(count, [count](Processes& own) {
      const auto all = gather(own, std::string(static_cast<std::size_t>(own.rank()), 'x'));  // rank 0 has nothing
      ASSERT_EQ(all.size(), static_cast<std::size_t>(count));
      for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], std::string(i, 'x'));
    });
  }
}

TEST(Processes, BroadcastReachesAll) {
  for (const int count : {1, 2, 3, 4, 5, 8, 9}) {
    test::in_processes(count, [](Processes& own) {
      EXPECT_EQ(broadcast(own, own.first() ? "from the first" : "not this"), "from the first");
      EXPECT_EQ(broadcast(own, ""), "");
    });
  }
}

}  // namespace
}  // namespace fovea
