#include "tasks/training/progress/train_log.hpp"

#include <algorithm>

#include "base/whole_file.hpp"
#include "fovea/error.hpp"

namespace fovea {
namespace {

// Numbers (null: one that was not finite) and whether it was the best.
bool well_formed(const nlohmann::json& entry) {
  return std::all_of(entry.items().begin(), entry.items().end(), [](const auto& item) {
    return item.key() == "best" ? item.value().is_boolean() : item.value().is_number() || item.value().is_null();
  });
}

}  // namespace

TrainLog::TrainLog(const std::filesystem::path& file, std::int64_t last_step) : file_(file) {
  std::string kept;
  if (last_step > 0) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      auto entry = nlohmann::json::parse(line, nullptr, false);
      // A line cut short by a crash is not JSON.
      if (!entry.is_object() || !entry.contains("step") || !entry["step"].is_number_integer()) continue;
      if (entry["step"].get<std::int64_t>() > last_step || !well_formed(entry)) continue;
      kept += line + "\n";
      entries_.push_back(std::move(entry));
    }
  }
  write_whole_file(file, kept);
  out_.open(file, std::ios::app);
  if (!out_) throw FileError(file.string() + ": cannot be written");
}

void TrainLog::add(const TrainReport& r) {
  nlohmann::json entry = {{"step", r.state.step},
                          {"epoch", r.state.epoch + 1},
                          {"loss", r.loss},
                          {"perplexity", r.perplexity},
                          {"token_accuracy", r.accuracy},
                          {"rate", r.rate},
                          {"gradient_norm", r.gradient_norm},
                          {"tokens_per_second", r.tokens_per_second},
                          {"tokens", r.state.tokens},
                          {"skipped", r.state.skipped},
                          {"seconds", r.state.seconds}};
  if (r.processes > 1) entry["sum_share"] = r.sum_share;
  write(entry);
}

void TrainLog::add(const TrainState& state, const Validation& validation, bool best) {
  nlohmann::json entry = {{"step", state.step},
                          {"epoch", state.epoch + 1},
                          {"seconds", state.seconds},
                          {"score", validation.score},
                          {"best", best}};
  for (const auto& [name, figure] : validation.figures) entry[name] = figure;
  write(entry);
}

void TrainLog::write(const nlohmann::json& entry) {
  entries_.push_back(entry);
  out_ << entry.dump() << std::endl;
  if (!out_) throw FileError(file_.string() + ": cannot be written");
}

}  // namespace fovea
