// DIR/log.jsonl: one object per report and validation; epochs are counted from 1, as on the screen.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "fovea/train/trainer.hpp"

namespace fovea {

class TrainLog {
 public:
  /// Goes on after `last_step`: later entries, left by a run that did not get as far as a checkpoint, are dropped.
  TrainLog(const std::filesystem::path& file, std::int64_t last_step);
  void add(const TrainReport& report);
  void add(const TrainState& state, const Validation& validation, bool best);
  [[nodiscard]] const std::vector<nlohmann::json>& entries() const { return entries_; }

 private:
  void write(const nlohmann::json& entry);

  std::filesystem::path file_;
  std::ofstream out_;
  std::vector<nlohmann::json> entries_;
};

}  // namespace fovea
