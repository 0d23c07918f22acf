#include "text/columns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/error.hpp"
#include "support/files.hpp"

namespace fovea::text {
namespace {

using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

template <class Thrown>
std::string error_of(const std::string& path, std::array<int, 2> columns = {0, 0}) {
  try {
    (void)read_columns(path, columns);
  } catch (const Thrown& error) {
    return error.what();
  }
  return "no error";
}

TEST(Columns, TwoAreSourceAndTarget) {
  const TemporaryFolder folder;
  const auto plain = folder.write("p.tsv", "Hi. \t嗨。\r\n\tx\na b\tc\n");
  const ParallelText text = read_columns(plain);
  EXPECT_THAT(text.source, ElementsAre("Hi.", "", "a b"));
  EXPECT_THAT(text.target, ElementsAre("嗨。", "x", "c"));
  EXPECT_EQ(text.source_path, plain);
  EXPECT_EQ(text.target_path, plain);
}

TEST(Columns, AnyTwoOfMoreCanBeChosenInAnyOrderAlsoFromGzip) {
  const TemporaryFolder folder;
  const auto file = folder.write_gz("p.tsv.gz", "1\tHi.\t2\t嗨。\n3\tRun!\t4\t跑！\tmore\n");
  const ParallelText text = read_columns(file, {4, 2});
  EXPECT_THAT(text.source, ElementsAre("嗨。", "跑！"));
  EXPECT_THAT(text.target, ElementsAre("Hi.", "Run!"));
}

TEST(Columns, WhatCannotBeNamesTheLine) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_of<FileError>(folder.write("one", "a\tb\na\n")), HasSubstr("one:2: 1 column, 2 are needed"));
  EXPECT_THAT(error_of<FileError>(folder.write("three", "a\tb\tCC-BY\n")), HasSubstr("three:1: 3 columns; choose two"));
  EXPECT_THAT(error_of<FileError>(folder.path("three"), {1, 4}), HasSubstr("three:1: 3 columns, 4 are needed"));
  EXPECT_THAT(error_of<FileError>(folder.write("none", "")), HasSubstr("none holds no lines"));
  EXPECT_THAT(error_of<FileError>(folder.write("blank", "\tb\n \tc\n")), HasSubstr("holds only blank lines"));
  for (const std::array<int, 2> columns :
       {std::array{1, 1}, std::array{0, 2}, std::array{-1, 2}, std::array{1, 1001}}) {
    EXPECT_THAT(error_of<UsageError>(folder.path("three"), columns), HasSubstr("columns: "));
  }
}

}  // namespace
}  // namespace fovea::text
