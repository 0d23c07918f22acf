// Trainings on pictures and their captions.
#pragma once

#include <optional>

#include "tasks/captioning/caption_learner.hpp"
#include "tasks/training/training_task.hpp"
#include "text/corpus.hpp"

namespace fovea {

/// A line of the source is a picture's place as PictureFiles takes it, a line of the target its caption.
class CaptionTask final : public TrainingTask {
 public:
  CaptionTask(const TrainingJob& job, Parameters& parameters);

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
  void finish(Trainer::End end) override;

 private:
  // Pictures with their captions, and what a frozen CNN makes of them.
  struct Part {
    text::ParallelText text{};
    std::optional<PictureStore> pictures{};
    std::optional<CaptionSet> captions{};
    std::optional<FeatureCache> features{};
    std::optional<CaptionData> data{};
  };
  [[nodiscard]] bool freezes() const { return std::get<CaptionTraining>(job_.task).freeze; }
  void encode(Part& part, const char* what, std::vector<std::string>& notes) const;
  void begin(Part& part, const char* cache) const;

  TrainingJob job_;  // with what the text decides
  Parameters& parameters_;
  Part train_, valid_;
  Tokenizers tokenizers_;
  std::optional<CaptionPlan> plan_;
};

}  // namespace fovea
