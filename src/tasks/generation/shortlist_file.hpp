// The shortlist of a model folder.
#pragma once

#include <filesystem>
#include <memory>

#include "fovea/model/config.hpp"
#include "text/shortlist.hpp"

namespace fovea {

[[nodiscard]] inline std::filesystem::path shortlist_file(const std::filesystem::path& folder) {
  return folder / "shortlist.safetensors";
}

/// Throws FileError where the folder has none that fits the model.
[[nodiscard]] std::unique_ptr<const text::Shortlist> load_shortlist(const std::filesystem::path& folder,
                                                                    const ModelConfig& config);

}  // namespace fovea
