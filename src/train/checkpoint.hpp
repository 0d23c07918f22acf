// All that a training needs to go on as if it had not been interrupted, in one file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "fovea/tensor.hpp"
#include "nn/parameters.hpp"

namespace fovea {

/// Where a training stands.
struct TrainState {
  std::int64_t step = 0;
  std::int64_t epoch = 0;
  std::int64_t batch = 0;  // of the epoch: the next one
  double seconds = 0;      // trained so far
  std::int64_t tokens = 0;
  double best = 0;  // validation's best score, higher is better
  bool has_best = false;
  int disappointments = 0;   // validations since then
  int halvings = 0;          // of the learning rate
  std::int64_t judged = -1;  // the last step that was validated
  bool finished = false;
};

/// Weights and what the optimizer keeps for each, in the order of Parameters::entries().
struct Checkpoint {
  TrainState state;
  std::vector<Tensor> weights, first_moments, second_moments;
  std::vector<Tensor> mean;                 // the exponential mean, when there is one
  std::vector<std::vector<Tensor>> recent;  // the last checkpoints' weights, oldest first, when they are averaged
};

/// The file appears whole or not at all. `fingerprint`, a JSON object, says what the training was given; a checkpoint
/// made with another one is not continued, but for what older versions did not write into it.
void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint, const Parameters& parameters,
                      const std::string& fingerprint);
/// Where the training stands that the file would go on with. Both throw FileError naming what does not fit, UsageError
/// naming the first thing in which the fingerprint differs.
[[nodiscard]] TrainState read_train_state(const std::filesystem::path& file, const std::string& fingerprint);
[[nodiscard]] Checkpoint read_checkpoint(const std::filesystem::path& file, const Parameters& parameters,
                                         const std::string& fingerprint);

}  // namespace fovea
