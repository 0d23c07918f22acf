// Where a model folder keeps its shortlist.
#pragma once

#include <filesystem>

namespace fovea {

inline std::filesystem::path shortlist_file(const std::filesystem::path& folder) {
  return folder / "shortlist.safetensors";
}

}  // namespace fovea
