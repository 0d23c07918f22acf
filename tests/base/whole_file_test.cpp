#include "base/whole_file.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/mapped_file.hpp"
#include "fovea/error.hpp"
#include "support/scratch.hpp"

namespace fovea {
namespace {

using testing::HasSubstr;

std::size_t files_in(const test::Scratch& scratch) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(scratch.folder()), {}));
}

TEST(WholeFile, NothingIsThereBeforeCommit) {
  const test::Scratch scratch;
  {
    WholeFile file(scratch / "a");
    file.write("half");
    EXPECT_FALSE(std::filesystem::exists(scratch / "a"));
  }
  EXPECT_EQ(files_in(scratch), 0U);
}

TEST(WholeFile, TheOldFileStaysUntilTheNewOneIsWhole) {
  const test::Scratch scratch;
  write_whole_file(scratch / "a", "old");
  {
    WholeFile file(scratch / "a");
    file.write(std::string(1 << 20, 'x'));
    EXPECT_EQ(test::read_text(scratch / "a"), "old");
  }
  EXPECT_EQ(test::read_text(scratch / "a"), "old");
  write_whole_file(scratch / "a", "new");
  EXPECT_EQ(test::read_text(scratch / "a"), "new");
  EXPECT_EQ(files_in(scratch), 1U);
}

TEST(WholeFile, SmallAndLargePiecesKeepTheirOrder) {
  const test::Scratch scratch;
  std::string expected;
  WholeFile file(scratch / "a");
  for (const std::size_t n : {1U, 65535U, 65536U, 3U, 200000U, 0U, 5U}) {
    const std::string piece(n, static_cast<char>('a' + n % 26));
    file.write(piece);
    expected += piece;
  }
  file.commit();
  EXPECT_EQ(test::read_text(scratch / "a"), expected);
}

TEST(WholeFile, KeepsTheModeAndFollowsLinks) {
  const test::Scratch scratch;
  write_whole_file(scratch / "real", "1");
  std::filesystem::permissions(scratch / "real", std::filesystem::perms(0600));
  std::filesystem::create_symlink("real", scratch / "link");
  write_whole_file(scratch / "link", "2");
  EXPECT_TRUE(std::filesystem::is_symlink(scratch / "link"));
  EXPECT_EQ(test::read_text(scratch / "real"), "2");
  EXPECT_EQ(std::filesystem::status(scratch / "real").permissions(), std::filesystem::perms(0600));
}

TEST(WholeFile, ADeviceIsWrittenDirectly) {
  EXPECT_NO_THROW(write_whole_file("/dev/null", "x"));
}

TEST(WholeFile, AFullDiskIsAnErrorThatNamesTheFile) {
  EXPECT_THAT(test::message_of<FileError>([] { write_whole_file("/dev/full", "x"); }),
              HasSubstr("/dev/full: cannot write"));
}

TEST(WholeFile, AFolderThatIsMissingIsNamed) {
  const test::Scratch scratch;
  const std::string message = test::message_of<FileError>([&] { write_whole_file(scratch / "no" / "a", "x"); });
  EXPECT_THAT(message, HasSubstr((scratch / "no" / "a").string()));
  EXPECT_THAT(test::message_of<FileError>([&] { write_whole_file(scratch.folder(), "x"); }), HasSubstr("directory"));
}

TEST(WholeFile, SeveralAppearTogetherOrNotAtAll) {
  const test::Scratch scratch;
  const std::string one = (scratch / "one").string();
  EXPECT_THROW(write_whole_files({{one, "1"}, {(scratch / "nowhere/two").string(), "2"}}), FileError);
  EXPECT_EQ(files_in(scratch), 0U);
  write_whole_files({{one, "1"}, {"", "of no file"}, {(scratch / "two").string(), "2"}});
  EXPECT_EQ(test::read_text(scratch / "one"), "1");
  EXPECT_EQ(test::read_text(scratch / "two"), "2");
  EXPECT_EQ(files_in(scratch), 2U);
}

TEST(MappedFile, HoldsTheFilesBytesAndNeverChangesThem) {
  const test::Scratch scratch;
  test::write_text(scratch / "a", "abc");
  const auto file = MappedFile::open(scratch / "a");
  ASSERT_EQ(file->bytes().size(), 3U);
  file->bytes()[0] = std::byte{'x'};
  EXPECT_EQ(test::read_text(scratch / "a"), "abc");
  test::write_text(scratch / "empty", "");
  EXPECT_TRUE(MappedFile::open(scratch / "empty")->bytes().empty());
}

TEST(MappedFile, WhatIsNoReadableFileIsAnErrorThatNamesIt) {
  const test::Scratch scratch;
  EXPECT_THAT(test::message_of<FileError>([&] { (void)MappedFile::open(scratch / "no"); }),
              HasSubstr("/no: cannot read"));
  EXPECT_THAT(test::message_of<FileError>([&] { (void)MappedFile::open(scratch.folder()); }), HasSubstr("directory"));
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(test::message_of<FileError>([&] { (void)MappedFile::open(scratch / "pipe"); }), HasSubstr("regular"));
}

}  // namespace
}  // namespace fovea
