// Validation of captions.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "fovea/captioner.hpp"
#include "fovea/training_job.hpp"
#include "tasks/captioning/caption_learner.hpp"
#include "tasks/training/report.hpp"
#include "text/corpus.hpp"

namespace fovea {

/// The loss on the validation captions; with validate_by bleu or accuracy also what greedy search writes for each
/// picture, against all of its captions. What it is given must outlive it.
class CaptionValidator {
 public:
  CaptionValidator(const TrainingJob& job, const Tokenizers& tokenizers, const text::ParallelText& text,
                   const CaptionData& data, const Parameters& parameters, TrainingObserver& observer);

  /// One tensor for each entry of the parameters.
  [[nodiscard]] Validation operator()(std::span<const Tensor> weights) const;
  /// What the model in the folder writes for a few pictures.
  [[nodiscard]] std::vector<ReportedLine> report_lines(const std::filesystem::path& folder) const;

 private:
  struct Described {
    std::string place;
    std::vector<std::string> captions;
  };

  [[nodiscard]] std::vector<std::vector<Caption>> cached_captions(const Captioner& captioner, std::size_t count) const;

  const TrainingJob& job_;
  const Tokenizers& tokenizers_;
  const CaptionData& data_;
  const Parameters& parameters_;
  TrainingObserver& observer_;
  std::vector<Described> pictures_;    // those that can be read
  std::vector<std::int64_t> numbers_;  // of the same in the data
};

}  // namespace fovea
