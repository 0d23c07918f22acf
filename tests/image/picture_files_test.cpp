#include <fmt/format.h>
#include <gmock/gmock.h>

#include "fovea/error.hpp"
#include "fovea/picture.hpp"
#include "support/pictures.hpp"
#include "support/scratch.hpp"

namespace fovea {
namespace {

class PictureFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    red_ = test::png_file(test::plain_picture(3, 3, {255, 0, 0}));
    blue_ = test::png_file(test::plain_picture(5, 5, {0, 0, 255}));
    test::write_text(folder_ / "set.images.bin", red_ + blue_);
    index("set.index.tsv", fmt::format("red\t0\t{}\nblue\t{}\t{}\n", red_.size(), red_.size(), blue_.size()));
  }
  void index(const std::string& name, const std::string& text) const { test::write_text(folder_ / name, text); }
  [[nodiscard]] std::string at(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string refused(const std::string& name) const {
    return test::message_of<FileError>([&] { (void)PictureFiles().read(at(name)); });
  }

  test::Scratch folder_;
  std::string red_, blue_;
};

TEST_F(PictureFilesTest, ReadsAFileByItsPath) {
  test::write_text(folder_ / "red.png", red_);
  EXPECT_EQ(PictureFiles().read(at("red.png")).width, 3);
  EXPECT_THAT(refused("green.png"), testing::HasSubstr("green.png"));
}

TEST_F(PictureFilesTest, ReadsAPictureOfAnIndexByItsName) {
  const PictureFiles files;
  EXPECT_EQ(files.read(at("set.index.tsv#red")).width, 3);
  EXPECT_EQ(test::pixel(files.read(at("set.index.tsv#blue")), 2, 2).blue, 255);
  index("set.tsv", fmt::format("blue\t{}\t{}\r\n", red_.size(), blue_.size()));
  EXPECT_EQ(files.read(at("set.tsv#blue")).width, 5);
  EXPECT_THAT(refused("set.index.tsv#green"), testing::HasSubstr("set.index.tsv#green: the index has no picture"));
}

TEST_F(PictureFilesTest, ChecksOffsets) {
  index("set.index.tsv", "a\t0\t3\nb\t0\t1000000\n");
  EXPECT_THAT(refused("set.index.tsv#a"), testing::HasSubstr("set.index.tsv:2: bytes 0 and 1000000 more are past"));
  index("set.index.tsv", "a\t18446744073709551615\t2\n");
  EXPECT_THAT(refused("set.index.tsv#a"), testing::HasSubstr("are past the end"));
  for (const char* line : {"a\t-1\t2", "a\t1", "a", "\t1\t2", "a\t1x\t2", "a\t1\t", "a\t99999999999999999999\t2"}) {
    index("set.index.tsv", line);
    EXPECT_THAT(refused("set.index.tsv#a"), testing::HasSubstr("set.index.tsv:1: not name, tab, byte offset")) << line;
  }
  index("set.index.tsv", "a\t0\t2\na\t0\t2\n");
  EXPECT_THAT(refused("set.index.tsv#a"), testing::HasSubstr("set.index.tsv:2: a is there twice"));
  index("alone.index.tsv", "a\t0\t2\n");
  EXPECT_THAT(refused("alone.index.tsv#a"), testing::HasSubstr("alone.images.bin"));
}

}  // namespace
}  // namespace fovea
