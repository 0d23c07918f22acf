// The checkpoints in the folder of a served model, loaded on demand.
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
  /// The checkpoints that `fovea train --keep-checkpoints` wrote into a model folder; there may be none.
  explicit Checkpoints(const std::filesystem::path& folder = {}, LoadOptions load = {});

  [[nodiscard]] const std::vector<std::int64_t>& steps() const { return steps_; }  // in order
  /// The model at a step; the most recently used ones stay loaded. Throws Refusal 400 for an unknown step, FileError
  /// for a folder that has changed. Thread-safe.
  [[nodiscard]] std::shared_ptr<const Translator> at(std::int64_t step) const;
  /// Throws Refusal 400 that lists the steps, for an unknown one.
  void check(std::int64_t step) const;

 private:
  std::vector<std::int64_t> steps_;
  std::vector<std::filesystem::path> folders_;
  LoadOptions load_;
  mutable std::mutex mutex_;
  mutable std::list<std::pair<std::int64_t, std::shared_ptr<const Translator>>> loaded_;  // most recently used first
};

}  // namespace fovea::server
