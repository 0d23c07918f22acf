// A served classifier.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/classifier.hpp"
#include "server/api/models/models.hpp"

namespace fovea::server {

/// Texts to classify.
struct ClassificationJob final : Job {
  ClassificationJob() { failure = "Cannot classify text"; }
  void prepare() override { results.resize(lines.size()); }

  ClassifyOptions how;
  std::vector<Classification> results;  // one per line
};

class ClassifierModel final : public Model {
 public:
  /// Named place.name or like the folder. Throws FileError, UsageError.
  [[nodiscard]] static std::unique_ptr<Model> load(const ModelPlace& place);
  ClassifierModel(std::string name, std::unique_ptr<const Classifier> classifier);

  [[nodiscard]] const std::vector<std::string>& labels() const { return classifier_->labels(); }
  /// Whether the model has attention.
  [[nodiscard]] bool attends() const { return classifier_->config().attends(); }
  /// Throws Refusal 400 for a text with too many tokens.
  void check_length(std::string_view text) const;

  [[nodiscard]] bool together(const Job& a, const Job& b) const override;
  BatchTokens run(std::span<const Item> items, BatchContext& context) const override;

 private:
  void add_description(nlohmann::json& json) const override;

  const std::unique_ptr<const Classifier> classifier_;
  const std::size_t longest_;  // tokens of a text
};

}  // namespace fovea::server
