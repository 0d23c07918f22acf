// The page of `fovea compare --html`: one sentence in several models, checkpoints or under several scores.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fovea/attention_record.hpp"

namespace fovea::view {

/// The attention of one model, checkpoint or score.
struct Compared {
  std::string name;                       // of the model, or the score with its formula
  std::optional<std::int64_t> step{};     // of a checkpoint
  std::string writes{};                   // the model's own output; empty: no model
  std::string shown{};                    // the output whose attention this is
  std::optional<double> log_probability;  // of `shown`, natural
  AttentionRecord record{};
};

/// "step-000300: ein hund (log-probability -0.012)", and the model's own output where another one is shown.
[[nodiscard]] std::string heading(const Compared& one);

/// Models or scores side by side, where pointing at a token marks it in all; or, of a training (`checkpoints`), a
/// slider over its checkpoints next to a fixed one. The last of `all` is then the final model.
[[nodiscard]] std::string compare_page(const std::vector<Compared>& all, bool checkpoints, const std::string& sentence);

}  // namespace fovea::view
