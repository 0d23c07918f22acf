// Models of a training along its way, kept to look at later.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "fovea/model/config.hpp"
#include "fovea/model/folder.hpp"

namespace fovea {

/// Model folders checkpoints/step-000500, … in a training's folder. Of more than `most` those go that leave the others
/// spread most evenly; the first and the last stay.
class KeptCheckpoints {
 public:
  /// `fresh` removes what an earlier training has left. What it is given must outlive it.
  KeptCheckpoints(const std::filesystem::path& folder, int most, bool fresh, const ModelConfig& config,
                  const Tokenizers& tokenizers, const Parameters& parameters);
  void save(std::int64_t step, std::span<const Tensor> weights);

 private:
  [[nodiscard]] std::filesystem::path of_step(std::int64_t step) const;
  void thin_out();

  std::filesystem::path folder_;
  int most_;
  const ModelConfig& config_;
  const Tokenizers& tokenizers_;
  const Parameters& parameters_;
  std::vector<std::int64_t> steps_;  // in order
};

/// The folders of a training's kept checkpoints, the earliest first.
[[nodiscard]] std::vector<std::filesystem::path> kept_checkpoints(const std::filesystem::path& folder);
/// The step that the name of a checkpoint's folder says, or -1.
[[nodiscard]] std::int64_t checkpoint_step(const std::filesystem::path& folder);

}  // namespace fovea
