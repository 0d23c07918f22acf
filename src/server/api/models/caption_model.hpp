// A served caption model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fovea/captioner.hpp"
#include "server/api/models/models.hpp"

namespace fovea::server {

/// A picture to describe; the job has one empty line.
struct CaptionJob final : Job {
  CaptionJob() { failure = "Cannot describe the picture"; }
  void prepare() override { results.resize(lines.size()); }

  GenerateOptions how;
  Picture picture;                 // scaled to the model's size
  std::vector<Generated> results;  // one
};

class CaptionModel final : public Model {
 public:
  /// Named place.name or like the folder. Throws FileError, UsageError.
  [[nodiscard]] static std::unique_ptr<Model> load(const ModelPlace& place);
  CaptionModel(std::string name, std::unique_ptr<const Captioner> captioner);

  /// Throws UsageError naming an invalid option.
  void check(const GenerateOptions& how) const { captioner_->check(how); }
  /// Whether the model has attention.
  [[nodiscard]] bool attends() const { return captioner_->config().attends(); }
  /// Side length of its pictures in pixels.
  [[nodiscard]] std::int64_t picture_size() const { return captioner_->config().pictures().picture_size; }

  [[nodiscard]] bool together(const Job& a, const Job& b) const override;
  BatchTokens run(std::span<const Item> items, BatchContext& context) const override;

 private:
  void add_description(nlohmann::json& json) const override;

  const std::unique_ptr<const Captioner> captioner_;
};

}  // namespace fovea::server
