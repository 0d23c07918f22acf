#include "tasks/training/progress/kept_checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/whole_file.hpp"
#include "fovea/error.hpp"

namespace fovea {
namespace {

constexpr std::string_view kStep = "step-";

// Removes what a training that was killed while it wrote a checkpoint has left.
void clean_up(const std::filesystem::path& checkpoints) {
  std::error_code ignored;
  std::vector<std::filesystem::path> unfinished;
  for (const auto& entry : std::filesystem::directory_iterator(checkpoints, ignored)) {
    if (checkpoint_step(entry.path()) < 0) continue;
    remove_leftovers(entry.path());
    if (!std::filesystem::exists(entry.path() / "model.safetensors")) unfinished.push_back(entry.path());
  }
  for (const auto& folder : unfinished) std::filesystem::remove_all(folder, ignored);
}

}  // namespace

std::int64_t checkpoint_step(const std::filesystem::path& folder) {
  const std::string name = folder.filename().string();
  if (!name.starts_with(kStep)) return -1;
  std::int64_t step = -1;
  const char* end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + kStep.size(), end, step);
  return read.ec == std::errc() && read.ptr == end && step >= 0 ? step : -1;
}

std::vector<std::filesystem::path> kept_checkpoints(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "checkpoints", none)) {
    if (checkpoint_step(entry.path()) >= 0 && std::filesystem::exists(entry.path() / "model.safetensors")) {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return checkpoint_step(a) < checkpoint_step(b); });
  return found;
}

KeptCheckpoints::KeptCheckpoints(const std::filesystem::path& folder, int most, bool fresh, const ModelConfig& config,
                                 const Tokenizers& tokenizers, const Parameters& parameters)
    : folder_(folder), most_(most), config_(config), tokenizers_(tokenizers), parameters_(parameters) {
  if (most > 0) clean_up(folder / "checkpoints");
  for (const auto& kept : kept_checkpoints(folder)) {
    if (fresh) {
      std::error_code ignored;
      std::filesystem::remove_all(kept, ignored);
    } else {
      steps_.push_back(checkpoint_step(kept));
    }
  }
}

std::filesystem::path KeptCheckpoints::of_step(std::int64_t step) const {
  return folder_ / "checkpoints" / fmt::format("{}{:06}", kStep, step);
}

void KeptCheckpoints::save(std::int64_t step, std::span<const Tensor> weights) {
  if (most_ < 1) return;
  const std::filesystem::path to = of_step(step);
  std::error_code failed;
  std::filesystem::create_directories(to, failed);
  if (failed) throw FileError(fmt::format("{}: cannot create the folder: {}", to.string(), failed.message()));
  write_model_config(to, config_, tokenizers_);
  write_model_weights(to, parameters_, weights);
  if (steps_.empty() || steps_.back() < step) steps_.push_back(step);
  thin_out();
}

void KeptCheckpoints::thin_out() {
  while (static_cast<int>(steps_.size()) > std::max(2, most_)) {
    std::size_t least = 1;  // its neighbours are nearest to each other
    for (std::size_t i = 1; i + 1 < steps_.size(); ++i) {
      if (steps_[i + 1] - steps_[i - 1] < steps_[least + 1] - steps_[least - 1]) least = i;
    }
    std::error_code ignored;
    std::filesystem::remove_all(of_step(steps_[least]), ignored);
    steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(least));
  }
}

}  // namespace fovea
