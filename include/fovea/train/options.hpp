// How a model is trained.
#pragma once

#include <cstdint>

#include "fovea/export.hpp"
#include "fovea/fields.hpp"
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
  // Copies of the model that a batch is distributed over; 0: one per thread. Fixes in which order gradients are summed,
  // and so every byte of the model, whatever number of threads there is.
  int replicas = 0;
  float dropout = 0.2F;         // share of the embeddings' and layers' outputs dropped
  float attention_dropout = 0;  // of a transformer's attention weights
  float inner_dropout = 0;      // inside a transformer's feed-forward layers
  LossOptions loss{.label_smoothing = 0.1F, .attention_entropy = 0.002F};  // weights of the loss
  double coverage_after = 0.75;  // when the coverage loss begins: below 1 a share of the training, else a step
  Schedule schedule{};           // of the learning rate
  // The warm-up takes at most this share of the training, as far as its length is known from its limits; 0: the
  // schedule's own, however short the training.
  double warmup_share = 0;
  AdamOptions adam{.rate = 0, .beta2 = 0.98F, .epsilon = 1e-9F, .clip = 1.0F};  // a rate of 0: usual for the model
  std::int64_t checkpoint_every = 500;                                          // steps; each checkpoint is validated
  std::int64_t report_every = 50;                                               // steps between reports
  int patience = 0;                       // validations without improvement before it ends; 0: never
  int average = 1;                        // validate and save the mean of the last N checkpoints
  std::uint64_t seed = 1;                 // of everything random
  Precision precision = Precision::fp32;  // of the products of a step; validation is always in fp32

  /// `replicas`, or their default: one for each thread of each process.
  [[nodiscard]] int replica_count() const;
  /// The loss of step `step`, when a share `progress` of the training is done.
  [[nodiscard]] LossOptions loss_at(std::int64_t step, double progress) const;
  /// Throws UsageError naming the field that is out of range or does not fit the others.
  void check() const;

  /// Calls visit(value, field) for each field. With a model, the fields that have an effect on it are known.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit, const ModelConfig* model = nullptr) {
    const Uses transformer{model == nullptr || has_part(*model, TransformerConfig::kind), "a transformer"};
    visit(c.max_steps, {.name = "max-steps",
                        .range = at_least(0),
                        .group = "Training",
                        .help = "stop after this number of steps; 0: no limit",
                        .common = true});
    visit(c.max_epochs, {.name = "max-epochs",
                         .range = at_least(0),
                         .group = "Training",
                         .help = "stop after this number of passes over the training text",
                         .usual = "20 if there is no other limit",
                         .common = true});
    visit(c.max_minutes, {.name = "max-minutes",
                          .range = at_least(0),
                          .group = "Training",
                          .help = "stop after this many minutes; 0: no limit",
                          .common = true});
    visit(c.batch_tokens, {.name = "batch-tokens",
                           .range = at_least(1),
                           .group = "Training",
                           .help = "tokens per step, counted on the longer side",
                           .usual = "256 to 2048, chosen from the corpus size",
                           .common = true});
    visit(c.micro_tokens, {.name = "micro-tokens",
                           .range = at_least(1),
                           .group = "Training",
                           .help = "target tokens that a thread processes at a time"});
    visit(c.accumulate, {.name = "accumulate",
                         .range = at_least(1),
                         .group = "Training",
                         .help = "number of batches whose gradients are summed for one step"});
    visit(c.replicas,
          {.name = "replicas",
           .range = between(0, 1024),
           .group = "Training",
           .help = "copies of the model that share a batch; a fixed number gives a bit-identical model with "
                   "any number of threads; 0: one per thread"});
    visit(c.report_every,
          {.name = "report-every", .range = at_least(1), .group = "Training", .help = "steps between two reports"});
    visit(c.seed, {.name = "seed", .group = "Training", .help = "seed of all random numbers"});
    visit(c.precision, {.name = "precision",
                        .group = "Training",
                        .help = "precision of matrix products; bf16 is several times faster on CPUs with AMX tiles"});
    visit(c.dropout, {.name = "dropout",
                      .range = below_one(),
                      .group = "Regularization",
                      .help = "share of the outputs of embeddings and layers that is dropped",
                      .common = true});
    visit(c.attention_dropout, {.name = "attention-dropout",
                                .range = below_one(),
                                .uses = transformer,
                                .group = "Regularization",
                                .help = "share of a transformer's attention weights that is dropped"});
    visit(c.inner_dropout, {.name = "inner-dropout",
                            .range = below_one(),
                            .uses = transformer,
                            .group = "Regularization",
                            .help = "dropout inside a transformer's feed-forward layers"});
    LossOptions::fields(c.loss, visit, model);
    visit(c.coverage_after, {.name = "coverage-after",
                             .range = at_least(0),
                             .uses = {c.loss.coverage_loss > 0, "a coverage loss"},
                             .group = "Regularization",
                             .help = "when the coverage loss begins: below 1 a share of the training, from 1 on a "
                                     "step"});
    AdamOptions::fields(c.adam, visit);
    Schedule::fields(c.schedule, visit);
    visit(c.warmup_share, {.name = "warmup-share", .range = between(0, 1)});
    visit(c.checkpoint_every, {.name = "checkpoint-every",
                               .range = at_least(1),
                               .group = "Checkpoints and validation",
                               .help = "steps between two checkpoints; each is validated"});
    visit(c.patience, {.name = "patience",
                       .range = at_least(0),
                       .group = "Checkpoints and validation",
                       .help = "stop after this number of validations without improvement; 0: never"});
    visit(c.average, {.name = "average",
                      .range = between(1, 100),
                      .group = "Checkpoints and validation",
                      .help = "validate and save the mean of the last N checkpoints"});
  }
};

/// A largest learning rate to start from: Vaswani et al.'s (2017, eq. 3) 1 / sqrt(dim * warmup) for a transformer, with
/// at least 1,000 steps of warm-up in it; a constant for the others.
[[nodiscard]] double usual_rate(const ModelConfig& config, std::int64_t warmup);

}  // namespace fovea
