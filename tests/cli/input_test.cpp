// Lines of standard input.
#include "cli/io/input.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "fovea/error.hpp"
#include "support/scratch.hpp"

namespace fovea::cli {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  std::int64_t number = 0;
  for (std::string line; next_line(in, line, number);) lines.push_back(line);
  EXPECT_EQ(number, static_cast<std::int64_t>(lines.size()));
  return lines;
}

TEST(Input, LinesOfEveryLengthAreReadAsTheyAre) {
  for (const std::size_t length : {0, 1, 4094, 4095, 4096, 8189, 8190, 8191, 1 << 20}) {
    const std::string line(length, 'x');
    const std::vector<std::string> two{line, "y"};
    EXPECT_EQ(lines_of(line + "\ny\n"), two) << length;
    if (length < 1 << 20) {
      EXPECT_EQ(lines_of(line + "\r\ny"), two) << length;
    }
    EXPECT_EQ(lines_of("y\n" + line), (length == 0 ? std::vector<std::string>{"y"} : std::vector{two[1], two[0]}));
  }
  EXPECT_EQ(lines_of(""), std::vector<std::string>{});
  EXPECT_EQ(lines_of("\n\n"), (std::vector<std::string>{"", ""}));
}

TEST(Input, ALineThatWouldFillTheMemoryIsRefused) {
  const std::string text = "first\n" + std::string((1 << 20) + 1, 'x');
  for (const char* end : {"", "\n", "xx\nz\n"}) {
    EXPECT_EQ(test::message_of<FileError>([&] { (void)lines_of(text + end); }),
              "standard input: line 2 is longer than 1 MiB; is this text?");
  }
}

}  // namespace
}  // namespace fovea::cli
