// Trainings on pairs of lines: text to text, text to a label, turns to a reply.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tasks/pair_learner.hpp"
#include "tasks/training/text/epoch_plan.hpp"
#include "tasks/training/text/streamed_plan.hpp"
#include "tasks/training/text/training_text.hpp"
#include "tasks/training/training_task.hpp"
#include "text/copy_table.hpp"
#include "text/corpus.hpp"

namespace fovea {

class PairTask final : public TrainingTask {
 public:
  PairTask(const TrainingJob& job, Parameters& parameters);

  [[nodiscard]] TaskDecisions decide(const ResumedModel* resumed) override;
  [[nodiscard]] std::vector<std::string> build_model(bool resumes) override;
  [[nodiscard]] nlohmann::json identity() const override;
  void begin() override;
  [[nodiscard]] BatchPlan& plan() override { return *plan_; }
  [[nodiscard]] ExampleSet training_set() const override;
  [[nodiscard]] ExampleSet validation_set() const override;
  [[nodiscard]] std::vector<ValidationSample> outputs(const Parameters& weights, const BatchTotals& totals,
                                                      Validation& v) const override;
  [[nodiscard]] std::vector<ReportedLine> report_lines() const override;

 private:
  [[nodiscard]] Tokenizers make_tokenizers(std::vector<std::string>& notes);
  void encode(bool resumes, std::vector<std::string>& notes);
  void plan_batches(const text::CopyTable* table);
  [[nodiscard]] LearnerFactory learners(const text::Pairs& pairs) const;

  TrainingJob job_;  // with what the text decides
  Parameters& parameters_;
  TrainingText text_;
  std::vector<std::string> notes_;  // of reading the text
  Tokenizers tokenizers_;
  std::optional<text::CopyTable> copying_;
  std::optional<StreamedText> stream_;  // when the training text is not held in memory
  text::Corpus corpus_, valid_;
  text::PairsSummary summary_;  // of the text to train on
  std::int64_t pairs_ = 0;      // and how many it has
  std::unique_ptr<BatchPlan> plan_;
  const text::Pairs* training_ = nullptr;  // the pairs that the plan numbers
  std::optional<PairExamples> examples_, valid_examples_;
};

}  // namespace fovea
