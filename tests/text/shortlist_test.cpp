#include "text/shortlist.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/error.hpp"
#include "fovea/safetensors.hpp"
#include "support/scratch.hpp"

namespace fovea::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;

struct Given final : Pairs {
  std::vector<Ids> sources, targets;
  [[nodiscard]] std::int64_t size() const override { return static_cast<std::int64_t>(sources.size()); }
  [[nodiscard]] std::span<const std::int32_t> source(std::int64_t i) const override {
    return sources[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] std::span<const std::int32_t> target(std::int64_t i) const override {
    return targets[static_cast<std::size_t>(i)];
  }
};

// Source token s is always translated to s + 10; 20 is in every line.
Given pairs() {
  Given all;
  for (std::int32_t a = 4; a < 9; ++a) {
    for (std::int32_t b = 4; b < 9; ++b) {
      all.sources.push_back({a, b});
      all.targets.push_back({b + 10, 20, a + 10});
    }
  }
  return all;
}

TEST(Shortlist, FindsWhatTokensAreTranslatedTo) {
  const Shortlist shortlist(pairs(), 10, 22, {.per_token = 1, .common = 1, .iterations = 8});
  EXPECT_THAT(shortlist.candidates(Ids{4}), ElementsAre(1, 3, 14, 20));
  EXPECT_THAT(shortlist.candidates(Ids{8, 5}), ElementsAre(1, 3, 15, 18, 20));
  EXPECT_THAT(shortlist.candidates(Ids{9}), ElementsAre(1, 3, 20));  // never seen
}

TEST(Shortlist, IsReadAsItWasWritten) {
  const test::Scratch scratch;
  const Shortlist shortlist(pairs(), 10, 22, {.per_token = 2, .common = 1});
  shortlist.save(scratch / "s");
  const Shortlist read(scratch / "s", 10, 22);
  for (std::int32_t s = 0; s < 10; ++s) EXPECT_EQ(read.candidates(Ids{s}), shortlist.candidates(Ids{s}));
}

TEST(Shortlist, ABrokenFileIsAnErrorThatSaysWhere) {
  const test::Scratch scratch;
  const auto path = scratch / "s";
  const auto error = [&](std::vector<std::int64_t> common, std::vector<std::int64_t> first,
                         std::vector<std::int64_t> targets) {
    SafetensorsWriter writer;
    const auto add = [&](const char* name, const std::vector<std::int64_t>& v) {
      writer.add(name, {static_cast<std::int64_t>(v.size())}, std::span<const std::int64_t>(v));
    };
    add("common", common);
    add("first", first);
    add("targets", targets);
    writer.write(path);
    return test::message_of<FileError>([&] { (void)Shortlist(path, 2, 22); });
  };
  EXPECT_THAT(error({1}, {0, 1}, {5}), HasSubstr("made for 1 source tokens, the model has 2"));
  EXPECT_THAT(error({}, {}, {}), HasSubstr("source tokens"));
  EXPECT_THAT(error({1}, {0, 2, 1}, {5}), HasSubstr("does not divide"));
  EXPECT_THAT(error({1}, {0, 1, 7}, {5}), HasSubstr("does not divide"));
  EXPECT_THAT(error({22}, {0, 1, 1}, {5}), HasSubstr("common: token 22 in a vocabulary of 22"));
  EXPECT_THAT(error({1}, {0, 1, 1}, {-1}), HasSubstr("targets: token -1"));
}

}  // namespace
}  // namespace fovea::text
