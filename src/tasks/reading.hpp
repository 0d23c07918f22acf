// Lines as the models that will write their outputs have read them.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "decode/ensemble.hpp"
#include "model/seq2seq.hpp"
#include "tasks/model_copies.hpp"

namespace fovea {

/// One of the models that write together.
struct Member {
  const ModelConfig config;
  const Parameters parameters;  // packed
  ModelCopies copies;

  Member(const ModelConfig& member_config, Parameters weights)
      : config(member_config), parameters(packed(std::move(weights))), copies(config, parameters) {}

 private:
  static Parameters packed(Parameters weights) {
    weights.pack();
    return weights;
  }
};

/// Every member's memory of a batch of lines; the copies it leased belong to this thread meanwhile.
class Reading {
 public:
  Reading(std::span<const std::unique_ptr<Member>> members, const Tokens& source) {
    for (const auto& member : members) {
      Pass pass;
      leases_.push_back(std::make_unique<const ModelCopies::Lease>(member->copies));
      memories_.push_back(leases_.back()->model().encode(source, pass));
    }
  }

  /// All of them at the start of an output.
  [[nodiscard]] std::unique_ptr<Stepper> start(bool want_attention, const AttentionChoice& which = {}) const {
    std::vector<std::unique_ptr<Stepper>> steppers;
    for (std::size_t m = 0; m < leases_.size(); ++m) {
      steppers.push_back(leases_[m]->model().start(memories_[m], want_attention, which));
    }
    if (steppers.size() == 1) return std::move(steppers[0]);
    return std::make_unique<EnsembleStepper>(std::move(steppers));
  }

 private:
  std::vector<std::unique_ptr<const ModelCopies::Lease>> leases_;
  std::vector<Memory> memories_;
};

}  // namespace fovea
