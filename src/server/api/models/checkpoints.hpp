// The checkpoints that a training has kept beside a served model, loaded when they are asked for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "fovea/model/folder.hpp"
#include "fovea/translator.hpp"

namespace fovea::server {

class Checkpoints {
 public:
  /// Those in a model folder, as `fovea train --keep-checkpoints` leaves them; perhaps none.
  explicit Checkpoints(const std::filesystem::path& folder = {}, LoadOptions load = {});

  [[nodiscard]] const std::vector<std::int64_t>& steps() const { return steps_; }  // in order
  /// The model of a step; the few that were asked for last stay loaded. Throws Refusal 400 for a step that was not
  /// kept, FileError for a folder that has changed. Threads may share it.
  [[nodiscard]] std::shared_ptr<const Translator> at(std::int64_t step) const;
  /// Throws Refusal 400 that lists the steps, for one that was not kept.
  void check(std::int64_t step) const;

 private:
  std::vector<std::int64_t> steps_;
  std::vector<std::filesystem::path> folders_;
  LoadOptions load_;
  mutable std::mutex mutex_;
  mutable std::list<std::pair<std::int64_t, std::shared_ptr<const Translator>>> loaded_;  // the last one first
};

}  // namespace fovea::server
