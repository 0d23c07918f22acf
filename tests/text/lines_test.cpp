#include "text/lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/error.hpp"
#include "support/files.hpp"

namespace fovea::text {
namespace {

using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(const std::string& path) {
  try {
    (void)read_lines(path);
  } catch (const FileError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Lines, EndWithNewlineOrTheFile) {
  const TemporaryFolder folder;
  EXPECT_THAT(read_lines(folder.write("a", "one\ntwo\n")), ElementsAre("one", "two"));
  EXPECT_THAT(read_lines(folder.write("b", "one\n\ntwo")), ElementsAre("one", "", "two"));
  EXPECT_THAT(read_lines(folder.write("c", "\n")), ElementsAre(""));
  EXPECT_THAT(read_lines(folder.write("d", "")), ElementsAre());
}

TEST(Lines, LoseCarriageReturnAndByteOrderMark) {
  const TemporaryFolder folder;
  EXPECT_THAT(read_lines(folder.write("a", "\xEF\xBB\xBFone\r\nt\rwo\r\n\xEF\xBB\xBFx")),
              ElementsAre("one", "t\rwo", "\xEF\xBB\xBFx"));
}

TEST(Lines, GzipIsReadByItsContentNotItsName) {
  const TemporaryFolder folder;
  std::string big;
  for (int i = 0; i < 50000; ++i) big += "line " + std::to_string(i) + "\n";
  const auto lines = read_lines(folder.write_gz("a.gz", big));
  ASSERT_EQ(lines.size(), 50000u);
  EXPECT_EQ(lines[49999], "line 49999");
  EXPECT_THAT(read_lines(folder.write_gz("plain-name", "x\n")), ElementsAre("x"));
  EXPECT_THAT(read_lines(folder.write("plain.gz", "x\n")), ElementsAre("x"));
}

TEST(Lines, DamagedFilesAreErrorsThatNameThem) {
  const TemporaryFolder folder;
  std::string big;
  for (int i = 0; i < 50000; ++i) big += std::to_string(i * 7919) + "\n";
  folder.write_gz("a.gz", big);
  const std::string whole = folder.read("a.gz");
  const auto cut = folder.write("cut.gz", whole.substr(0, whole.size() / 2));
  EXPECT_EQ(error_of(cut), cut + ": the gzip data is cut short");
  std::string flipped = whole;
  for (std::size_t i = whole.size() / 2; i < whole.size() / 2 + 64; ++i) flipped[i] = static_cast<char>(~flipped[i]);
  const auto bad = folder.write("bad.gz", flipped);
  EXPECT_THAT(error_of(bad), HasSubstr(bad + ": damaged gzip data"));
  EXPECT_THAT(error_of(folder.path("missing")), HasSubstr("missing: cannot be opened: No such file"));
  EXPECT_THAT(error_of(folder.path()), HasSubstr("cannot be read: Is a directory"));
}

TEST(Lines, AFileMadeToFillTheMemoryIsRefused) {
  const TemporaryFolder folder;
  const auto bomb = folder.write_gz("bomb.gz", std::string(100 << 20, '\n'));
  EXPECT_EQ(error_of(bomb), bomb + ": unpacks to more than 100 times its size; if it may be trusted, unpack it first");
  const auto small = folder.write_gz("small.gz", std::string(1 << 20, '\n'));
  EXPECT_EQ(read_lines(small).size(), std::size_t{1} << 20) << "little is read whatever its ratio";
  const auto line = folder.write_gz("line.gz", std::string((1 << 20) + 1, 'a'));
  EXPECT_EQ(error_of(line), line + ": line 1 is longer than 1 MiB; is this a text file?");
  EXPECT_EQ(read_lines(folder.write("long", std::string(1 << 20, 'a'))).at(0).size(), std::size_t{1} << 20);
}

TEST(Lines, WhatIsNotTextNamesItsLine) {
  const TemporaryFolder folder;
  const auto latin = folder.write("latin", "ok\nna\xEFve\n");
  EXPECT_EQ(error_of(latin), latin + ":2: not UTF-8 at byte 3 of the line");
  const auto nul = folder.write("nul", std::string_view("ok\nx\n\0\n", 7));
  EXPECT_EQ(error_of(nul), nul + ":3: a NUL at byte 1 of the line; is this a text file?");
  // The end of a buffer may fall inside a character.
  std::string big = "a";
  while (big.size() < 200000) big += "猫";
  EXPECT_EQ(read_lines(folder.write("big", big)).at(0), big);
}

TEST(Lines, ReaderKnowsWhereItIs) {
  const TemporaryFolder folder;
  LineReader reader(folder.write("a", "x\ny\n"));
  std::string line;
  ASSERT_TRUE(reader.next(line));
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(reader.where(), folder.path("a") + ":2");
  EXPECT_FALSE(reader.next(line));
  EXPECT_FALSE(reader.next(line));
}

}  // namespace
}  // namespace fovea::text
