// Which table of kernels is used.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "kernels/kernels.hpp"

namespace fovea::kernels {
namespace {

TEST(Dispatch, WithoutAWishItIsTheBestThatThisMachineRuns) {
  const char* wish = std::getenv("FOVEA_KERNELS");
  if (wish != nullptr && *wish != '\0') {
    EXPECT_EQ(std::string(active().name), wish);
  } else {
    EXPECT_EQ(&active(), available().back());
  }
  EXPECT_EQ(std::string(available().front()->name), "generic");
}

TEST(Dispatch, AScopeEndsWithTheTableThatWasThereBefore) {
  const Table& before = active();
  for (const Table* table : available()) {
    const ScopedKernels outer(*table);
    EXPECT_EQ(&active(), table);
    {
      const ScopedKernels inner(*available().front());
      EXPECT_EQ(&active(), available().front());
    }
    EXPECT_EQ(&active(), table);
  }
  EXPECT_EQ(&active(), &before);
}

}  // namespace
}  // namespace fovea::kernels
