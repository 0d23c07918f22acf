#include "text/shard.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <fstream>
#include <string>

#include "fovea/error.hpp"
#include "support/scratch.hpp"
#include "text/batches.hpp"

namespace fovea::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Corpus corpus(int first, int count, bool copies = false) {
  Corpus out;
  for (int i = first; i < first + count; ++i) {
    std::vector<std::int32_t> source(static_cast<std::size_t>(1 + i % 5), i);
    std::vector<std::int32_t> target(static_cast<std::size_t>(1 + i % 3), -i);
    std::vector<std::int32_t> same(copies ? source.size() : 0, 7 * i);
    out.add(source, target, 2 * (i - first) + 1, same);
  }
  return out;
}

void expect_equal(const Pairs& a, const Pairs& b, std::int64_t from = 0) {
  for (std::int64_t i = 0; i < b.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(a.source(from + i), b.source(i)));
    EXPECT_TRUE(std::ranges::equal(a.target(from + i), b.target(i)));
    EXPECT_TRUE(std::ranges::equal(a.copies(from + i), b.copies(i)));
  }
}

TEST(Shard, HoldsThePairsOfItsCorpus) {
  const test::Scratch folder;
  for (const bool copies : {false, true}) {
    const Corpus all = corpus(3, 40, copies);
    write_shard(folder / "a.shard", all, 101);
    const Shard shard(folder / "a.shard");
    ASSERT_EQ(shard.size(), 40);
    expect_equal(shard, all);
    EXPECT_EQ(shard.line(0), 101);
    EXPECT_EQ(shard.line(39), 179);
    EXPECT_EQ(summarize(shard).hash, summarize(all).hash);
  }
  write_shard(folder / "none.shard", Corpus(), 1);
  EXPECT_EQ(Shard(folder / "none.shard").size(), 0);
}

TEST(ShardWindow, IsOneCorpus) {
  const test::Scratch folder;
  write_shard(folder / "0", corpus(0, 7), 1);
  write_shard(folder / "1", Corpus(), 1);
  write_shard(folder / "2", corpus(7, 5), 50);
  ShardWindow window;
  window.open({folder / "0", folder / "1", folder / "2"});
  ASSERT_EQ(window.size(), 12);
  expect_equal(window, corpus(0, 12));
  EXPECT_EQ(window.line(7), 50);
  window.open({folder / "2"});
  ASSERT_EQ(window.size(), 5);
  expect_equal(window, corpus(7, 5));
}

// So a training on a text that fits in one window is the same as on one in memory.
TEST(ShardWindow, HasTheBatchesOfTheCorpus) {
  const test::Scratch folder;
  write_shard(folder / "0", corpus(0, 60), 1);
  write_shard(folder / "1", corpus(60, 40), 1);
  ShardWindow window;
  window.open({folder / "0", folder / "1"});
  const Corpus all = corpus(0, 100);
  Batches a(all, {.batch_tokens = 20, .seed = 3});
  Batches b(window, {.batch_tokens = 20, .seed = 3});
  for (const int epoch : {0, 1, 5}) {
    a.start_epoch(epoch);
    b.start_epoch(epoch);
    ASSERT_EQ(a.count(), b.count());
    for (std::int64_t i = 0; i < a.count(); ++i) EXPECT_TRUE(std::ranges::equal(a.pairs(i), b.pairs(i)));
  }
}

TEST(Shard, DamagedFilesAreRefused) {
  const test::Scratch folder;
  write_shard(folder / "whole", corpus(0, 9), 1);
  std::ifstream in(folder / "whole", std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const auto refused = [&](std::string bytes, const char* what) {
    std::ofstream(folder / "bad", std::ios::binary) << bytes;
    try {
      const Shard shard(folder / "bad");
      ADD_FAILURE() << what << " was accepted";
    } catch (const FileError& error) {
      EXPECT_THAT(error.what(), HasSubstr("bad: damaged")) << what;
    }
  };
  refused("", "nothing");
  refused(whole.substr(0, 20), "half a header");
  refused(whole.substr(0, whole.size() - 4), "a cut file");
  refused(whole + "1234", "a longer file");
  std::string moved = whole;
  const std::uint64_t ids = (whole.size() - 32 - 9 * sizeof(Shard::Pair)) / sizeof(std::int32_t);
  std::memcpy(moved.data() + 32 + 8 * sizeof(Shard::Pair), &ids, sizeof ids);
  refused(moved, "a pair that begins where the numbers end");
  for (std::size_t at = 0; at < 32 + 9 * sizeof(Shard::Pair); at += 4) {
    if (at >= 32 && (at - 32) % sizeof(Shard::Pair) >= 8 && (at - 32) % sizeof(Shard::Pair) < 16) continue;  // a line
    std::string bytes = whole;
    bytes[at + 3] = '\x7f';
    refused(bytes, "a large number");
  }
}

}  // namespace
}  // namespace fovea::text
