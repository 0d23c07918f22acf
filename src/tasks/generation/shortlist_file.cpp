#include "tasks/generation/shortlist_file.hpp"

#include <fmt/format.h>

#include "fovea/error.hpp"

namespace fovea {

std::unique_ptr<const text::Shortlist> load_shortlist(const std::filesystem::path& folder, const ModelConfig& config) {
  const std::filesystem::path file = shortlist_file(folder);
  if (!std::filesystem::exists(file)) {
    throw FileError(fmt::format("{}: there is none; fovea shortlist makes it from the training text", file.string()));
  }
  const std::int32_t source = config.reads_tokens() ? config.tokens().vocabulary : 0;  // of pictures none
  return std::make_unique<const text::Shortlist>(file, source, config.generator().vocabulary);
}

}  // namespace fovea
