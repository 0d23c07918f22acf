// What a user sees when something is wrong: one line, and 2 for wrong usage or 1 for a failure.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

#include "support/files.hpp"

namespace fovea {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

void expect_one_line(const test::Ran& ran, int code, const std::string& what) {
  EXPECT_EQ(ran.code, code) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, StartsWith("fovea: "));
  EXPECT_THAT(ran.err, HasSubstr(what));
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_EQ(ran.err.back(), '\n');
}

// The real binary, through a shell: exit code and what it wrote to standard error.
test::Ran run_binary(const std::string& before, const std::string& arguments) {
  const std::string command = before + " '" FOVEA_BINARY_DIR "/fovea' " + arguments + " 2>&1 >/dev/null";
  test::Ran ran;
  FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) ran.err += buffer.data();
  ran.code = WEXITSTATUS(::pclose(pipe));
  return ran;
}

TEST(Errors, WrongUsageIsTwo) {
  expect_one_line(test::run_cli({}), 2, "subcommand");
  expect_one_line(test::run_cli({"attned"}), 2, "\"attned\" is not a subcommand of fovea: ");
  expect_one_line(test::run_cli({"bench", "speed"}), 2, "\"speed\" is not a subcommand of bench: ");
  expect_one_line(test::run_cli({"--threads", "2", "run"}), 2,
                  "\"--threads\" is not an option or subcommand of fovea: ");
  EXPECT_EQ(test::run_cli({"--version"}).code, 0);
  EXPECT_EQ(test::run_cli({"-h"}).code, 0);
  EXPECT_EQ(test::run_cli({"bench", "--help"}).code, 0);
  expect_one_line(test::run_cli({"bench"}), 2, "subcommand");
  expect_one_line(test::run_cli({"evaluate", "--hypothesi", "x"}), 2, "--hypothesi");
  expect_one_line(test::run_cli({"evaluate", "--metric", "speed"}), 2, "--metric");
}

// A measurement is of what was asked for, or not made.
TEST(Errors, ABenchOfBf16NeedsTilesForIt) {
  for (const char* what : {"gemm", "train"}) {
    expect_one_line(run_binary("FOVEA_KERNELS=generic", std::string("bench ") + what + " --precision bf16"), 2,
                    "--precision bf16: there are no tiles for it here");
    expect_one_line(test::run_cli({"bench", what, "--precision", "half"}), 2, "\"half\" is not one of fp32, bf16");
  }
}

TEST(Errors, AMissingFileIsOneAndNamed) {
  expect_one_line(test::run_cli({"evaluate", "--hypothesis", "/no/such", "--reference", "/no/such"}), 1, "/no/such");
}

TEST(Errors, ANameWithLineBreaksStaysOnOneLine) {
  expect_one_line(test::run_cli({"evaluate", "--hypothesis", "/no\nsuch\x1b[1m", "--reference", "x"}), 1,
                  "/no such [1m");
}

TEST(Errors, HelpAndVersionAreNoErrors) {
  const test::Ran help = test::run_cli({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, HasSubstr("Usage: fovea"));
  EXPECT_EQ(help.err, "");
  EXPECT_EQ(test::run_cli({"--version"}).code, 0);
}

TEST(Errors, UnknownKernelsAreTwoAndTheKnownOnesAreListed) {
  const test::Ran ran = run_binary("FOVEA_KERNELS=sse9", "bench gemm");
  expect_one_line(ran, 2, "FOVEA_KERNELS: \"sse9\"");
  EXPECT_THAT(ran.err, HasSubstr("generic"));
  EXPECT_EQ(run_binary("FOVEA_KERNELS=generic", "--version").code, 0);
}

TEST(Errors, OutputThatCannotBeWrittenIsOne) {
  const std::string binary = FOVEA_BINARY_DIR "/fovea";
  FILE* pipe = ::popen(("'" + binary + "' explain 2>&1 >/dev/full").c_str(), "r");
  std::array<char, 4096> buffer{};
  const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe);
  const int status = ::pclose(pipe);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(std::string(buffer.data(), n), "fovea: standard output: cannot write\n");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they need the address space for themselves
TEST(Errors, TooLittleMemoryIsOne) {
  const test::Ran ran = run_binary(
      "ulimit -v 4000000;", "bench attention --batch 64 --heads 1 --queries 1048576 --keys 16 --dim 64 --threads 1");
  expect_one_line(ran, 1, "out of memory");
}
#endif

}  // namespace
}  // namespace fovea
