// One run of a trained model with all its numbers: what explanations are made of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/attention_record.hpp"
#include "fovea/model/config.hpp"
#include "fovea/nn/trace.hpp"

namespace FOVEA_API fovea {

/// A token or label that could have come, and how likely it was.
struct Candidate {
  std::string text{};         // as the model writes it
  float log_probability = 0;  // natural
};

/// A line, what the model made of it, and every number on the way.
struct ModelRun {
  ModelConfig config{};                         // of the model
  std::string input{}, output{};                // the line and its translation, or its label
  std::vector<std::string> source{}, target{};  // tokens, each end of sequence included; of a classifier the label
  std::vector<std::int32_t> target_ids{};       // of the output, without the end of sequence
  AttentionRecord attention{};                  // every kind, layer and head
  Trace trace{};                                // of the encoder, and of the decoder that was given its own output
  std::vector<Trace::Entry> weights{};          // the model's parameters, not copied
  /// For each token of the target the likeliest candidates, best first; the one that was chosen is among them.
  std::vector<std::vector<Candidate>> next{};

  /// The parameter of this name, or null.
  [[nodiscard]] const Tensor* weight(std::string_view name) const {
    for (const Trace::Entry& entry : weights) {
      if (entry.name == name) return &entry.value;
    }
    return nullptr;
  }
};

}  // namespace fovea
