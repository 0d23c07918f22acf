// The loss of a batch.
#pragma once

#include <cstdint>

#include "fovea/export.hpp"
#include "fovea/fields.hpp"
#include "fovea/model/config.hpp"
#include "fovea/var.hpp"

namespace FOVEA_API fovea {

/// How the loss of a batch is computed: label smoothing and the weights of what is added to the cross-entropy.
struct LossOptions {
  float label_smoothing = 0;  // probability spread over the vocabulary
  /// R-Drop (Liang et al. 2021): weight of the divergence between predictions under two dropout masks. The batch then
  /// holds every example twice; see CrossEntropyOptions.
  float r_drop = 0;
  float coverage_loss = 0;      // weight of attending again to the same source tokens (See et al. 2017)
  float doubly_stochastic = 0;  // of captions: weight of leaving regions out (Xu et al. 2015, eq. 14)
  float reinforce = 1;          // of hard attention: weight of the reward of the sampled regions
  float attention_entropy = 0;  // of hard attention: weight of the entropy of its probabilities
  float hops_penalty = 0;       // of the pooling hops: weight of the overlap of the hops (Lin et al. 2017)

  /// Calls visit(value, field) for each field. With a model, the fields that have an effect on it are known.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit, const ModelConfig* model = nullptr) {
    visit(c.label_smoothing, {.name = "label-smoothing",
                              .range = below_one(),
                              .group = "Regularization",
                              .help = "probability of the reference that is spread over all other tokens"});
    visit(c.r_drop, {.name = "r-drop",
                     .range = at_least(0),
                     .group = "Regularization",
                     .help = "weight of R-Drop: every example is read under two dropout masks whose predictions are "
                             "pulled together; 3 to 5 are usual, 0: off"});
    visit(c.coverage_loss, {.name = "coverage-loss",
                            .range = at_least(0),
                            .uses = {model == nullptr || writes_with_attention(*model), "a decoder with attention"},
                            .group = "Regularization",
                            .help = "weight of a loss on attending to the same source tokens twice; 0: off"});
    visit(c.doubly_stochastic, {.name = "doubly-stochastic",
                                .range = at_least(0),
                                .uses = {model == nullptr || reads_pictures(*model), "the task caption"},
                                .group = "Pictures",
                                .help = "weight of a loss on regions of a picture that no word attends to; 0: off"});
    visit(c.attention_entropy, {.name = "attention-entropy",
                                .range = at_least(0),
                                .uses = {model == nullptr || samples_regions(*model), "hard attention to pictures"},
                                .group = "Pictures",
                                .help = "weight of the entropy of hard attention, which keeps it exploring regions"});
    visit(c.hops_penalty, {.name = "hops-penalty",
                           .range = at_least(0),
                           .uses = {model == nullptr || pools_hops(*model), "the pooling hops"},
                           .group = "Classifiers",
                           .help = "weight of a loss on the overlap of the attentions of the pooling hops"});
  }
};

/// The loss of a batch, and what it was made from.
struct BatchLoss {
  Var loss{};                // summed over the outputs, with label smoothing and R-Drop
  std::int64_t outputs = 0;  // target tokens, each end of sequence included; or labels
  double nll = 0;            // summed -log p, without smoothing
  std::int64_t correct = 0;  // outputs whose best guess was right
};

}  // namespace fovea
