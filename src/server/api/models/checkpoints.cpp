#include "server/api/models/checkpoints.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "server/http/fields.hpp"
#include "tasks/training/progress/kept_checkpoints.hpp"

namespace fovea::server {
namespace {

constexpr std::size_t kMostLoaded = 3;

}  // namespace

Checkpoints::Checkpoints(const std::filesystem::path& folder, LoadOptions load) : load_(load) {
  if (folder.empty()) return;
  folders_ = kept_checkpoints(folder);
  for (const auto& kept : folders_) steps_.push_back(checkpoint_step(kept));
}

void Checkpoints::check(std::int64_t step) const {
  if (std::find(steps_.begin(), steps_.end(), step) != steps_.end()) return;
  throw Refusal(400, steps_.empty() ? "Invalid request: checkpoint parameter: the model has no kept checkpoints"
                                    : fmt::format("Invalid request: checkpoint parameter must be one of {}",
                                                  fmt::join(steps_, ", ")));
}

std::shared_ptr<const Translator> Checkpoints::at(std::int64_t step) const {
  check(step);
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(loaded_.begin(), loaded_.end(), [step](const auto& one) { return one.first == step; });
  if (found != loaded_.end()) {
    loaded_.splice(loaded_.begin(), loaded_, found);
    return found->second;
  }
  const auto place = std::find(steps_.begin(), steps_.end(), step) - steps_.begin();
  loaded_.emplace_front(step, std::make_shared<const Translator>(folders_[static_cast<std::size_t>(place)], load_));
  if (loaded_.size() > kMostLoaded) loaded_.pop_back();
  return loaded_.front().second;
}

}  // namespace fovea::server
