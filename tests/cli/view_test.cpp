#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/run.hpp"
#include "support/markup.hpp"

namespace fovea::cli {
namespace {

using testing::HasSubstr;

class ViewCommand : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("COLUMNS");  // or the drawings would be as wide as it says
    folder_ = std::filesystem::temp_directory_path() / ("fovea_view_" + std::to_string(::getpid()) +
                                                        testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
    write("run.jsonl",
          "{\"source\":[\"看\",\"<b>\"],\"target\":[\"look\"],\"weights\":[[0.75,0.25]]}\n"
          "{\"source\":[\"x\"],\"target\":[\"y\"],\"attention\":[{\"layer\":0,\"head\":1,\"weights\":[[1]]}]}\n");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  std::string read(const std::string& name) const {
    std::ifstream in(path(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  int fovea(const std::vector<std::string>& arguments) {
    out_.str("");
    err_.str("");
    return run(arguments, {in_, out_, err_});
  }

  std::filesystem::path folder_;
  std::istringstream in_;
  std::ostringstream out_, err_;
};

TEST_F(ViewCommand, DrawsInTheTerminal) {
  EXPECT_EQ(fovea({"view", path("run.jsonl")}), 0);
  EXPECT_EQ(out_.str(),
            "line 1\n      看  <b>\n look ███ ▒▒▒\n\n"
            "line 2\n   x\n y ███\n\n");
  EXPECT_EQ(err_.str(), "");
}

TEST_F(ViewCommand, ReadsStandardInputAndChoosesALine) {
  in_.str(read("run.jsonl"));
  EXPECT_EQ(fovea({"view", "-", "--line", "2", "--layer", "0", "--numbers"}), 0);
  EXPECT_EQ(out_.str(), "line 2\n   x\n y 100\n\n");
}

TEST_F(ViewCommand, ColoursOnRequest) {
  EXPECT_EQ(fovea({"view", path("run.jsonl"), "--color", "always"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("\x1b[48;"));
}

TEST_F(ViewCommand, WritesPageAndPicture) {
  EXPECT_EQ(fovea({"view", path("run.jsonl"), "--html", path("a.html"), "--svg", path("a.svg")}), 0);
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(test::malformed(read("a.svg")), "");
  EXPECT_THAT(read("a.html"), HasSubstr("\\u003cb\\u003e"));
  EXPECT_EQ(fovea({"view", path("run.jsonl"), "--svg", path("b.svg"), "--draw", "ribbon"}), 0);
  EXPECT_THAT(read("b.svg"), HasSubstr("<path"));
}

TEST_F(ViewCommand, ABrokenFileIsOneLineAndLeavesOutputsAlone) {
  write("bad.jsonl", read("run.jsonl") + "{\"source\":[\"a\"],\"target\":[],\"weights\":[[1]]}\n");
  write("a.html", "precious");
  EXPECT_EQ(fovea({"view", path("bad.jsonl"), "--html", path("a.html")}), 1);
  EXPECT_EQ(err_.str(), "fovea: " + path("bad.jsonl") + ":3: weights has 1 rows for 0 target tokens\n");
  EXPECT_EQ(read("a.html"), "precious");
}

TEST_F(ViewCommand, SaysWhatIsMissing) {
  EXPECT_EQ(fovea({"view", path("none.jsonl")}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("none.jsonl: cannot be opened"));
  EXPECT_EQ(fovea({"view", folder_.string()}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("is a directory"));
  EXPECT_EQ(fovea({"view", path("run.jsonl"), "--line", "3"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("has 2 lines, no line 3"));
  EXPECT_EQ(fovea({"view", path("run.jsonl"), "--html", path("no/such/a.html")}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("a.html"));
  write("empty.jsonl", "\n");
  EXPECT_EQ(fovea({"view", path("empty.jsonl")}), 1);
}

TEST_F(ViewCommand, WrongUsageIsExitTwo) {
  EXPECT_EQ(fovea({"view"}), 2);
  EXPECT_EQ(fovea({"view", path("run.jsonl"), "--line", "0"}), 2);
  EXPECT_EQ(fovea({"view", path("run.jsonl"), "--draw", "pie"}), 2);
  EXPECT_EQ(fovea({"view", path("run.jsonl"), "--head", "5"}), 2);
}

}  // namespace
}  // namespace fovea::cli
