// The heap memory that values own.
#include "base/heap_bytes.hpp"

#include <gmock/gmock.h>

namespace fovea {
namespace {

TEST(HeapBytes, OfAShortStringAreNone) {
  EXPECT_EQ(heap_bytes(std::string("short")), 0);
  EXPECT_GE(heap_bytes(std::string(100, 'a')), 101);
}

TEST(HeapBytes, OfAVectorIncludeItsElements) {
  EXPECT_EQ(heap_bytes(std::vector<float>()), 0);
  EXPECT_EQ(heap_bytes(std::vector<float>(10)), 10 * sizeof(float));
  const std::vector<std::vector<float>> rows(3, std::vector<float>(5));
  EXPECT_EQ(heap_bytes(rows), 3 * sizeof(std::vector<float>) + 15 * sizeof(float));
  const std::vector<std::string> texts{"a", std::string(100, 'a')};
  EXPECT_EQ(heap_bytes(texts), 2 * sizeof(std::string) + heap_bytes(texts[1]));
}

TEST(HeapBytes, OfAMapIncludeKeysAndValues) {
  const std::map<std::string, std::vector<float>> map{{std::string(100, 'k'), std::vector<float>(7)}};
  EXPECT_GE(heap_bytes(map), 101 + 7 * sizeof(float) + sizeof(std::string) + sizeof(std::vector<float>));
}

}  // namespace
}  // namespace fovea
