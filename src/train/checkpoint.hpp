// All that a training needs to be resumed as if it had not been interrupted, in one file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fovea/nn/parameters.hpp"
#include "fovea/tensor.hpp"
#include "fovea/train/trainer.hpp"

namespace fovea {

/// Weights and what the optimizer keeps for each, in the order of Parameters::entries().
struct Checkpoint {
  TrainState state;
  std::vector<Tensor> weights, first_moments, second_moments;
  std::vector<Tensor> mean;                 // the exponential mean, when there is one
  std::vector<std::vector<Tensor>> recent;  // the last checkpoints' weights, oldest first, when they are averaged
};

/// The file appears whole or not at all. `fingerprint`, a JSON object, says what the training was given; a checkpoint
/// made with another one is not continued.
void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint, const Parameters& parameters,
                      const std::string& fingerprint);
/// The position of the training in the file. Both throw FileError naming what does not fit, UsageError
/// naming the first thing in which the fingerprint differs.
[[nodiscard]] TrainState read_train_state(const std::filesystem::path& file, const std::string& fingerprint);
[[nodiscard]] Checkpoint read_checkpoint(const std::filesystem::path& file, const Parameters& parameters,
                                         const std::string& fingerprint);

}  // namespace fovea
