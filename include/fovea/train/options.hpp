// How a model is trained.
#pragma once

#include <cstdint>

#include "fovea/model/config.hpp"
#include "fovea/model/loss.hpp"
#include "fovea/precision.hpp"
#include "fovea/train/adam.hpp"
#include "fovea/train/schedule.hpp"

namespace FOVEA_API fovea {

/// How a training runs.
struct TrainOptions {
  std::int64_t max_steps = 0;        // 0: no limit; without any limit, 20 epochs
  std::int64_t max_epochs = 0;       // passes over the examples; 0: no limit
  double max_minutes = 0;            // of training time, earlier runs included; validation counts
  std::int64_t batch_tokens = 2048;  // of the target, padding included, per step
  std::int64_t micro_tokens = 1024;  // a thread works on so many tokens at a time, so that they stay in its cache
  int accumulate = 1;                // batches per step
  // Copies of the model a batch is dealt to; 0: one per thread. Fixes in which order gradients are summed, and so every
  // byte of the model, whatever number of threads there is.
  int replicas = 0;
  float dropout = 0.2F;          // share of the embeddings' and layers' outputs dropped
  float attention_dropout = 0;   // of a transformer's attention weights
  float inner_dropout = 0;       // inside a transformer's feed-forward layers
  float label_smoothing = 0.1F;  // probability spread over the vocabulary
  float r_drop = 0;  // R-Drop (Liang et al. 2021): weight of how far two dropout masks may drive a prediction apart
  float coverage_loss = 0;  // weight of attending again to the same source tokens (See et al. 2017); 0: none
  double coverage_after =
      0.75;             // from when on: below 1 a share of the training, else a step; first it learns to attend
  Schedule schedule{};  // of the learning rate
  // The warm-up takes at most this share of the training, as far as its limits tell how long that is; 0: the schedule's
  // own, however short the training.
  double warmup_share = 0;
  AdamOptions adam{.beta2 = 0.98F, .epsilon = 1e-9F, .clip = 1.0F};  // its rate is the schedule's
  std::int64_t checkpoint_every = 500;                               // steps; each checkpoint is validated
  std::int64_t report_every = 50;                                    // steps between reports
  int patience = 0;                       // validations without improvement before it ends; 0: never
  int average = 1;                        // validate and save the mean of the last N checkpoints
  std::uint64_t seed = 1;                 // of everything random
  Precision precision = Precision::fp32;  // of the products of a step; validation is always in fp32

  /// `replicas`, or their default: one for each thread of each process.
  [[nodiscard]] int replica_count() const;
  /// Of step `step`, when a share `progress` of the training is done.
  [[nodiscard]] LossOptions loss(std::int64_t step, double progress) const;
  /// Throws UsageError naming the field that cannot be.
  void check() const;
};

/// A largest learning rate to start from: Vaswani et al.'s (2017, eq. 3) 1 / sqrt(dim * warmup) for a transformer, with
/// at least 1,000 steps of warm-up in it; a constant for the others.
[[nodiscard]] double usual_rate(const ModelConfig& config, std::int64_t warmup);

}  // namespace fovea
