#include "cli/io/outputs.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "fovea/error.hpp"

namespace fovea::cli {

void check_outputs_differ(std::initializer_list<std::pair<const char*, const std::string*>> outputs) {
  namespace fs = std::filesystem;
  for (const auto& [option, path] : outputs) {
    for (const auto& [other, other_path] : outputs) {
      if (option == other || path->empty() || other_path->empty()) continue;
      std::error_code ignored;
      if (fs::path(*path).lexically_normal() == fs::path(*other_path).lexically_normal() &&
          !fs::is_character_file(*path, ignored)) {
        throw UsageError(fmt::format("{} and {} both name {}", option, other, *path));
      }
    }
  }
}

}  // namespace fovea::cli
