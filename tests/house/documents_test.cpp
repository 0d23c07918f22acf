// What the documents show is what the tree holds.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "support/scratch.hpp"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path root = FOVEA_SOURCE_DIR;

TEST(Documents, TheReadmeShowsTheExampleAndItsOutput) {
  const std::string readme = test::read_text(root / "README.md");
  for (const char* file : {"attend.cpp", "attend.expected"}) {
    const std::string text = test::read_text(root / "examples" / file);
    EXPECT_FALSE(text.empty());
    EXPECT_THAT(readme, HasSubstr("\n" + text + "```")) << file;
  }
}

TEST(Documents, TheGuideShowsTheProgramAndItsOutput) {
  const std::string guide = test::read_text(root / "docs/how-to/own-attention.md");
  for (const char* file : {"own_attention.cpp", "own_attention.expected"}) {
    EXPECT_THAT(guide, HasSubstr("\n" + test::read_text(root / "examples" / file) + "```")) << file;
  }
}

TEST(Documents, TheReadmeIsShort) {
  const std::string readme = test::read_text(root / "README.md");
  EXPECT_LT(std::count(readme.begin(), readme.end(), '\n'), 150);
}

TEST(Documents, LinksLeadSomewhere) {
  static const std::regex link(R"re([^\[&]\]\(([^)#:]+)(#[^)]*)?\))re");  // not the [](…) of a C++ function
  int links = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string inside = fs::relative(entry.path(), root).string();
    if (inside.starts_with("build") || inside.starts_with(".git") || entry.path().extension() != ".md") continue;
    const std::string text = test::read_text(entry.path());
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
      EXPECT_TRUE(fs::exists(entry.path().parent_path() / (*at)[1].str())) << inside << ": " << (*at)[1];
      ++links;
    }
  }
  EXPECT_GT(links, 3);
}

}  // namespace
}  // namespace fovea
