#include <gmock/gmock.h>

#include "support/files.hpp"

namespace fovea {
namespace {

using test::run_cli;
using test::TemporaryFolder;
using testing::HasSubstr;

TEST(RecallCommand, WritesBesideEachTokenWhatItWouldBecome) {
  const TemporaryFolder folder;
  std::string words;
  std::string sounds;
  for (const char* ending : {" S", " D", " R", " T"}) {
    words += std::string("C A T") + ending + "\nA C E" + ending + "\nA C I" + ending + "\n";
    sounds += std::string("K AE T") + ending + "\nEY S" + ending + "\nAE S IH" + ending + "\n";
  }
  const auto source = folder.write("words", words);
  const auto target = folder.write("sounds", sounds);
  const auto ran =
      run_cli({"recall", "--source", source, "--target", target, "--least", "1"}, "C A T S\n\nA C E S\r\nT 7");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "C:K A:AE T:T S:S\n\nA:EY?AE C:S E:- S:S\nT:T 7\n");
  // The default tells only what is well known.
  EXPECT_EQ(run_cli({"recall", "--source", source, "--target", target}, "C A T S\n").out, "C A T S\n");
}

TEST(RecallCommand, AByteOrderMarkIsNoPartOfALine) {
  const TemporaryFolder folder;
  const std::string mark = "\xEF\xBB\xBF";
  const auto source = folder.write("words", mark + "A B\nA B C\nB A\n");
  const auto target = folder.write("sounds", "1 2\n1 2 3\n2 1\n");
  const auto ran = run_cli({"recall", "--source", source, "--target", target, "--least", "1"}, mark + "A B\n");
  EXPECT_EQ(ran.out.substr(0, 3), "A:1") << ran.out;
}

TEST(RecallCommand, WhatCannotBeIsSaidInOneLine) {
  const TemporaryFolder folder;
  const auto source = folder.write("words", "A\nB\n");
  const auto target = folder.write("sounds", "1\n");
  auto ran = run_cli({"recall", "--source", source, "--target", target}, "A\n");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("has 2 lines"));
  EXPECT_THAT(ran.err, HasSubstr("they must pair up"));
  ran = run_cli({"recall", "--source", folder.path("nowhere"), "--target", target}, "A\n");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("nowhere"));
  ran = run_cli({"recall", "--source", source, "--target", source}, "A\n\xff\n");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("line 2 is not UTF-8 at byte 1"));
  ran = run_cli({"recall", "--source", source, "--target", source}, std::string("A\0\n", 3));
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("line 1 holds a NUL"));
  for (const char* option : {"--least", "--order", "--beam"}) {
    EXPECT_EQ(run_cli({"recall", "--source", source, "--target", source, option, "0"}).code, 2) << option;
  }
  EXPECT_EQ(run_cli({"recall", "--source", source, "--target", source, "--order", "13"}).code, 2);
  EXPECT_EQ(run_cli({"recall", "--source", source}).code, 2);
}

}  // namespace
}  // namespace fovea
