// A Transformer encoder with a label for every word: the smallest model whose only attention is self-attention.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/rng.hpp"
#include "fovea/attention/interventions.hpp"
#include "fovea/model/config.hpp"
#include "fovea/nn/parameters.hpp"
#include "fovea/nn/trace.hpp"
#include "tasks/learning/live_lesson.hpp"

namespace fovea::learning {

/// Words and the label of each; a label of 0 is not counted.
struct TaggedLine {
  std::vector<std::int32_t> ids, labels;
};

struct TaggerTraining {
  std::string name;  // of the model, as Progress has it
  TransformerConfig encoder{};
  std::int32_t vocabulary = 0, labels = 0;
  std::function<TaggedLine(Rng&)> line{};
  int steps = 300, batch = 32;
  float rate = 0.005F;
  float weight_decay = 0, label_smoothing = 0;  // both keep attention weights away from 0 and 1
  std::uint64_t seed = 1;
};

class Tagger {
 public:
  /// Trains. Throws Stopped.
  Tagger(const TaggerTraining& how, const Watch& watch);

  struct Run {
    Trace trace;   // every number of the encoder
    Tensor probs;  // [words, labels]
  };
  [[nodiscard]] Run run(const std::vector<std::int32_t>& ids, const Interventions& changes = {}) const;
  /// Share of correct labels on lines outside the training.
  [[nodiscard]] double right() const { return right_; }
  [[nodiscard]] double seconds() const { return seconds_; }  // of the training

 private:
  struct Model;

  TaggerTraining how_;
  Parameters parameters_;
  double right_ = 0, seconds_ = 0;
};

}  // namespace fovea::learning
