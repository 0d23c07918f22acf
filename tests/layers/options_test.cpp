// Only the command line names options: the library, which other programs call too, names fields.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "support/scratch.hpp"

namespace fovea {
namespace {

namespace fs = std::filesystem;

// The text between the quotes of a line of code; what follows // is no code.
std::vector<std::string> literals_of(const std::string& line) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line.compare(at, 2, "//") == 0) break;
    if (line.compare(at, 3, "'\"'") == 0) at += 2;
    if (line[at] != '"') continue;
    std::string text;
    for (++at; at < line.size() && line[at] != '"'; ++at) {
      if (line[at] == '\\') text += line[at++];
      if (at < line.size()) text += line[at];
    }
    found.push_back(text);
  }
  return found;
}

// Every literal outside of src/cli that names an option, as FILE:LINE: text.
std::vector<std::string> options_in(const fs::path& root) {
  static const std::regex option("(^|[^-!<])--[a-z]");
  std::vector<std::string> found;
  for (const char* folder : {"src", "include"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string name = fs::relative(entry.path(), root).string();
      const auto extension = entry.path().extension();
      if ((extension != ".cpp" && extension != ".hpp") || name.starts_with("src/cli/")) {
        continue;
      }
      std::ifstream in(entry.path());
      int number = 0;
      for (std::string line; std::getline(in, line);) {
        ++number;
        for (const std::string& text : literals_of(line)) {
          if (std::regex_search(text, option)) found.push_back(name + ":" + std::to_string(number) + ": " + text);
        }
      }
    }
  }
  return found;
}

TEST(Options, AreNamedByTheCommandLineAlone) {
  EXPECT_THAT(options_in(FOVEA_SOURCE_DIR), testing::IsEmpty());
}

TEST(Options, InALiteralAreFoundAndElsewhereAreNot) {
  const test::Scratch root;
  for (const char* folder : {"src/cli", "src/base", "include"}) fs::create_directories(root / folder);
  test::write_text(root / "src/cli/a.cpp", "\"--beam\"\n");
  test::write_text(
      root / "src/base/a.cpp",
      "// \"--beam\"\nx--y;  // it's --beam\nf(\"a\", \"say \\\"--beam\\\"\");\n'\"'; --i; \"-->\"; \"--\";\n");
  test::write_text(root / "include/a.hpp", "\"raise --max-length\"\n");
  EXPECT_THAT(options_in(root.folder()), testing::UnorderedElementsAre("src/base/a.cpp:3: say \\\"--beam\\\"",
                                                                       "include/a.hpp:1: raise --max-length"));
}

}  // namespace
}  // namespace fovea
