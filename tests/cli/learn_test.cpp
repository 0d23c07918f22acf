#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "cli/run.hpp"
#include "support/scratch.hpp"

namespace fovea::cli {
namespace {

using testing::HasSubstr;

TEST(LearnCommand, WritesTheCourseAsOneFileThatFetchesNothing) {
  const test::Scratch folder;
  std::istringstream in;
  std::ostringstream out, err;
  ASSERT_EQ(run({"learn", "--html", (folder / "course.html").string()}, {in, out, err}), 0) << err.str();
  std::ifstream file(folder / "course.html");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  for (const char* lesson : {"fixed", "softmax", "scores", "steps", "qkv", "root", "heads", "encoders", "backward"}) {
    EXPECT_THAT(page, HasSubstr(std::string("id:\"") + lesson + "\""));
  }
  EXPECT_THAT(page, HasSubstr("id=\"recorded\""));
  EXPECT_EQ(page.find("src=\""), std::string::npos);
}

TEST(LearnCommand, AFileIsNotServed) {
  std::istringstream in;
  std::ostringstream out, err;
  EXPECT_EQ(run({"learn", "--html", "course.html", "--port", "5001"}, {in, out, err}), 2);
  EXPECT_THAT(err.str(), HasSubstr("--port: cannot be combined with --html"));
}

}  // namespace
}  // namespace fovea::cli
