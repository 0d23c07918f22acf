// src/LAYERS is the plan of the house; these tests hold every include to it.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "support/scratch.hpp"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

struct Plan {
  std::map<std::string, int> folders;                          // its place, top first
  std::map<std::string, std::pair<std::string, int>> headers;  // public header to its folder
};

Plan read_plan(const fs::path& file) {
  Plan plan;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string folder;
    if (!(words >> folder)) continue;
    const int place = static_cast<int>(plan.folders.size());
    plan.folders[folder] = place;
    for (std::string header; words >> header;) plan.headers[header] = {folder, place};
  }
  return plan;
}

std::vector<std::string> includes_of(const fs::path& file) {
  static const std::regex pattern(R"re(^\s*#\s*include\s*["<]([^">]+)[">])re");
  std::vector<std::string> found;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (std::regex_search(line, match, pattern)) found.push_back(match[1]);
  }
  return found;
}

// What breaks the plan in the tree under `root`, one line each.
std::vector<std::string> violations(const fs::path& root) {
  const Plan plan = read_plan(root / "src" / "LAYERS");
  std::vector<std::string> out;
  if (plan.folders.empty()) out.emplace_back("src/LAYERS lists nothing");
  const auto check = [&](const fs::path& file, const std::string& folder, int place, bool is_public) {
    const std::string name = fs::relative(file, root).string();
    for (const std::string& include : includes_of(file)) {
      const std::string first = include.substr(0, include.find('/'));
      std::string used = first;
      if (include.find("..") != std::string::npos) {
        out.push_back(name + ": includes \"" + include + "\", a path that climbs");
      } else if (first == "fovea") {
        const auto header = plan.headers.find(include.substr(6));
        if (header == plan.headers.end()) {
          out.push_back(name + ": includes \"" + include + "\", which src/LAYERS does not list");
          continue;
        }
        used = header->second.first;
      } else if (plan.folders.contains(first) && include != first) {
        if (is_public) out.push_back(name + ": a public header includes \"" + include + "\", which is not installed");
      } else {
        if (fs::exists(file.parent_path() / include)) {
          out.push_back(name + ": includes \"" + include + "\" without its folder");
        }
        continue;  // a library's header
      }
      if (plan.folders.contains(used) && plan.folders.at(used) > place) {
        out.push_back(name + ": " + folder + " includes \"" + include + "\" of " + used + ", a layer below it");
      }
    }
  };
  for (const auto& entry : fs::recursive_directory_iterator(root / "src")) {
    if (!entry.is_regular_file()) continue;
    const fs::path relative = fs::relative(entry.path(), root / "src");
    const std::string folder = relative.begin()->string();
    if (folder == "LAYERS" || folder == "CMakeLists.txt") continue;
    if (!plan.folders.contains(folder)) {
      out.push_back("src/" + relative.string() + ": src/LAYERS does not list its folder");
    } else {
      check(entry.path(), folder, plan.folders.at(folder), false);
    }
  }
  for (const auto& entry : fs::recursive_directory_iterator(root / "include" / "fovea")) {
    if (!entry.is_regular_file()) continue;
    const std::string name = fs::relative(entry.path(), root / "include" / "fovea").string();
    if (!plan.headers.contains(name)) {
      out.push_back("include/fovea/" + name + ": src/LAYERS does not list it");
    } else {
      check(entry.path(), plan.headers.at(name).first, plan.headers.at(name).second, true);
    }
  }
  return out;
}

TEST(Layers, NoIncludeGoesUp) {
  EXPECT_THAT(violations(FOVEA_SOURCE_DIR), IsEmpty());
}

// Each of these plants one offence in a copy of the tree, which is clean without it.
class Planted : public testing::Test {
 protected:
  Planted() {
    fs::copy(fs::path(FOVEA_SOURCE_DIR) / "src", root_ / "src", fs::copy_options::recursive);
    fs::copy(fs::path(FOVEA_SOURCE_DIR) / "include", scratch_ / "include", fs::copy_options::recursive);
  }
  void plant(const std::string& file, const std::string& line) {
    std::ofstream(root_ / file, std::ios::app) << line << '\n';
  }
  void expect(const std::string& what) { EXPECT_THAT(violations(root_), Contains(HasSubstr(what))); }

  test::Scratch scratch_;
  fs::path root_ = scratch_.folder();
};

TEST_F(Planted, NothingIsClean) {
  EXPECT_THAT(violations(root_), IsEmpty());
}

TEST_F(Planted, AnUpwardIncludeFails) {
  plant("src/base/arena.cpp", "#include \"cli/command.hpp\"");
  expect("src/base/arena.cpp: base includes \"cli/command.hpp\" of cli, a layer below it");
}

TEST_F(Planted, AnUpwardIncludeOfAPublicHeaderFails) {
  plant("src/tensor/tensor.cpp", "  #  include <fovea/var.hpp>");
  expect("src/tensor/tensor.cpp: tensor includes \"fovea/var.hpp\" of autograd");
}

TEST_F(Planted, AnUpwardIncludeInAPublicHeaderFails) {
  plant("include/fovea/shape.hpp", "#include \"fovea/ops.hpp\"");
  expect("include/fovea/shape.hpp: tensor includes \"fovea/ops.hpp\" of autograd");
}

TEST_F(Planted, APrivateIncludeInAPublicHeaderFails) {
  plant("include/fovea/var.hpp", "#include \"base/arena.hpp\"");
  expect("include/fovea/var.hpp: a public header includes \"base/arena.hpp\"");
}

TEST_F(Planted, AHeaderOrFolderThatIsNotListedFails) {
  plant("include/fovea/extra.hpp", "#pragma once");
  expect("include/fovea/extra.hpp: src/LAYERS does not list it");
  fs::create_directory(root_ / "src" / "attic");
  plant("src/attic/a.cpp", "");
  expect("src/attic/a.cpp: src/LAYERS does not list its folder");
}

TEST_F(Planted, AnIncludeThatHidesItsFolderFails) {
  plant("src/base/arena.cpp", "#include \"../cli/command.hpp\"");
  expect("a path that climbs");
  plant("src/base/arena.cpp", "#include \"arena.hpp\"");
  expect("without its folder");
}

}  // namespace
}  // namespace fovea
