// What --help says: defaults and ranges in words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "support/files.hpp"

namespace fovea {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string help(std::vector<std::string> command, const char* option = "--help") {
  command.emplace_back(option);
  const test::Ran r = test::run_cli(command);
  EXPECT_EQ(r.code, 0) << r.err;
  // On one line, however it was wrapped.
  std::istringstream in(r.out);
  std::string out;
  for (std::string word; in >> word;) out += (out.empty() ? "" : " ") + word;
  return out;
}

TEST(Help, ShowsDefaultsAndRangesInWords) {
  EXPECT_THAT(help({"run"}), HasSubstr("--beam N hypotheses kept; 1: greedy (default: 5)"));
  EXPECT_THAT(help({"evaluate"}), HasSubstr("--tokenize 13a|zh|char|none"));
  EXPECT_THAT(help({"train"}), HasSubstr("stop after this number of steps; 0: no limit (default)"));
  EXPECT_THAT(help({"train"}, "--help-all"), HasSubstr("root of the squared gradients (default: 1e-9)"));
  EXPECT_THAT(help({"train"}, "--help-all"), HasSubstr("to its largest value (default: 1000, at most 30%"));
  EXPECT_THAT(help({"train"}), HasSubstr("--model DIR folder for the model (required)"));
  EXPECT_THAT(help({"view"}), HasSubstr("--line N only this line of FILE, counted from 1 (1 or more)"));
  EXPECT_THAT(help({"explain"}), HasSubstr("--heads N number of heads (default 1; 1 to 16)"));
  EXPECT_THAT(help({"train"}), HasSubstr("generate, classify, chat, caption (default: generate)"));
  EXPECT_THAT(help({"train"}, "--help-all"), HasSubstr("small, squeezenet (default: small)"));
  EXPECT_THAT(help({"bench", "decode"}), HasSubstr("a sentence may write; default: all (1 to 10000000)"));
  EXPECT_THAT(help({"bench", "train"}), HasSubstr("its end included; default: 13 to 16 (2 to 100000)"));
}

TEST(Help, SaysWhatIsAFileAndWhatAFolder) {
  EXPECT_THAT(help({"quantize"}), HasSubstr("--out DIR the folder to write"));
  EXPECT_THAT(help({"train"}, "--help-all"), HasSubstr("--stream DIR folder"));
  EXPECT_THAT(help({"run"}), HasSubstr("--intervene FILE file of edges"));
  EXPECT_THAT(help({"explain"}), HasSubstr("--numbers FILE file for every array"));
  EXPECT_THAT(help({"explain"}), HasSubstr("--target SENTENCE output to explain"));
  EXPECT_THAT(help({"export"}), HasSubstr("fovea export [OPTIONS] OUT"));
}

TEST(Help, NoCommandShowsATypesNameOrTheLargestNumber) {
  for (const char* name : {"attend", "chart", "evaluate", "explain", "run", "score", "serve", "train", "view"}) {
    const std::string text = help({name});
    for (const char* word :
         {" INT", " UINT", " FLOAT", "9223372036854775807", "REQUIRED", ":{", " in [", "default: )"}) {
      EXPECT_THAT(text, Not(HasSubstr(word))) << name;
    }
  }
}

TEST(Help, LinesFitAScreen) {
  std::istringstream in(test::run_cli({"train", "--help-all"}).out);
  for (std::string line; std::getline(in, line);) EXPECT_LE(line.size(), 112U) << line;
}

}  // namespace
}  // namespace fovea
