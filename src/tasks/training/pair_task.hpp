// Trainings on pairs of lines: text to text, text to a label, turns to a reply.
#pragma once

#include <memory>
#include <optional>

#include "tasks/pair_learner.hpp"
#include "tasks/training/epoch_plan.hpp"
#include "tasks/training/streamed_plan.hpp"
#include "tasks/training/training_task.hpp"
#include "tasks/training/training_text.hpp"
#include "text/copy_table.hpp"
#include "text/corpus.hpp"

namespace fovea {

class PairTask final : public TrainingTask {
 public:
  PairTask(TrainingJob& job, Parameters& parameters, std::vector<std::string>& notes);

  [[nodiscard]] Tokenizers make_tokenizers(std::vector<std::string>& notes) override;
  void encode(const Tokenizers& tokenizers, bool resumes, std::vector<std::string>& notes) override;
  void build_model(bool resumes, std::vector<std::string>& notes) override;
  void add_identity(nlohmann::json& fingerprint) const override;
  void begin() override;
  [[nodiscard]] BatchPlan& plan() override { return *plan_; }
  [[nodiscard]] ExampleSet training_set() const override;
  [[nodiscard]] ExampleSet validation_set() const override;
  [[nodiscard]] std::vector<ValidationSample> outputs(const Parameters& weights, const BatchTotals& totals,
                                                      Validation& v) const override;
  [[nodiscard]] std::vector<ReportedLine> report_lines() const override;

 private:
  [[nodiscard]] LearnerFactory learners(const text::Pairs& pairs) const;

  TrainingJob& job_;
  Parameters& parameters_;
  TrainingText text_;
  const Tokenizers* tokenizers_ = nullptr;
  std::optional<text::CopyTable> copying_;
  std::optional<StreamedText> stream_;  // when the training text is not held in memory
  text::Corpus corpus_, valid_;
  text::PairsSummary summary_;  // of the text to train on
  std::int64_t pairs_ = 0;      // and how many it has
  std::unique_ptr<BatchPlan> plan_;
  const text::Pairs* training_ = nullptr;  // what the numbers of the plan stand for
  std::optional<PairExamples> examples_, valid_examples_;
};

}  // namespace fovea
