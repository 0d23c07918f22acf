// The page of `fovea compare --html`: one sentence in several models, checkpoints or under several scores.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fovea/attention_record.hpp"

namespace fovea::view {

/// What one model, checkpoint or score attended to.
struct Compared {
  std::string name;                       // of the model, or the score with its formula
  std::optional<std::int64_t> step{};     // of a checkpoint
  std::string writes{};                   // the model's own output; empty: there is no model
  std::string shown{};                    // the output whose attention this is
  std::optional<double> log_probability;  // of what is shown, natural
  AttentionRecord record{};
};

/// "step-000300: ein hund (log-probability -0.012)", and what is shown instead of the model's own output.
[[nodiscard]] std::string heading(const Compared& one);

/// Models and scores side by side, pointing at a token lights it in all; of a training (`checkpoints`) a slider over
/// its checkpoints, beside one of them that stays. The last one is the model that the training left.
[[nodiscard]] std::string compare_page(const std::vector<Compared>& all, bool checkpoints, const std::string& sentence);

}  // namespace fovea::view
