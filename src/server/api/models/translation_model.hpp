// A served translation model.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fovea/translator.hpp"
#include "server/api/models/checkpoints.hpp"
#include "server/api/models/models.hpp"
#include "server/api/texts/passage.hpp"
#include "tasks/interventions_file.hpp"
#include "view/lesson/model_lesson.hpp"

namespace fovea::server {

/// Sentences to translate.
struct TranslationJob final : Job {
  TranslationJob() { failure = "Cannot translate text"; }
  void prepare() override;

  GenerateOptions how;
  bool trace = false;                               // give every layer and head and the beam instead of a translation
  std::vector<std::string> outputs;                 // trace these outputs, one per line, instead of the model's own
  std::optional<std::int64_t> checkpoint;           // of a trace or an explanation: the training step of the model
  std::int64_t first_line = 1;                      // number of the sentence that `lines` starts with
  InterventionsFile interventions;                  // of a trace or an explanation; line numbers are those of the job
  std::optional<view::ModelLessonOptions> explain;  // the lesson of the only line, instead of a translation
  bool as_page = false;                             // the lesson as an HTML page, otherwise as JSON

  // Results: one entry per line in one of them.
  std::vector<std::vector<Generated>> translations;
  std::vector<GenerationTrace> traces;
  std::string lesson;
};

class TranslationModel final : public Model {
 public:
  /// `place.name` must be a pair of languages, or empty. Throws FileError, UsageError.
  [[nodiscard]] static std::unique_ptr<Model> load(const ModelPlace& place);
  TranslationModel(std::string source, std::string target, std::shared_ptr<const Translator> translator,
                   std::unique_ptr<const Checkpoints> checkpoints);

  [[nodiscard]] const std::string& source() const { return source_; }
  [[nodiscard]] const std::string& target() const { return target_; }
  [[nodiscard]] const Translator& translator() const { return *translator_; }
  /// Throws UsageError naming an invalid option.
  void check(const GenerateOptions& how) const { translator_->check(how); }
  /// The length limit of a line; longer lines are split.
  [[nodiscard]] LineLimit reads() const;
  [[nodiscard]] std::size_t most_tokens() const;  // of a line
  [[nodiscard]] int layers() const;               // with cross-attention; 0: none
  [[nodiscard]] int heads() const;
  /// Throws Refusal 400 that lists the steps, for an unknown one.
  void check_checkpoint(std::int64_t step) const;

  [[nodiscard]] bool together(const Job& a, const Job& b) const override;
  [[nodiscard]] std::size_t needs(const Item& item) const override;
  BatchTokens run(std::span<const Item> items, BatchContext& context) const override;

 private:
  void add_description(nlohmann::json& json) const override;
  [[nodiscard]] std::shared_ptr<const Translator> translator_of(const TranslationJob& job) const;
  BatchTokens translate(std::span<const Item> items, BatchContext& context) const;
  BatchTokens trace(const Item& item, BatchContext& context) const;
  BatchTokens explain(const Item& item, BatchContext& context) const;

  const std::string source_, target_;
  const std::shared_ptr<const Translator> translator_;
  const std::size_t longest_;  // characters of a line
  const std::unique_ptr<const Checkpoints> checkpoints_;
};

}  // namespace fovea::server
