// A model of pictures, as the server has it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fovea/captioner.hpp"
#include "server/api/models/models.hpp"

namespace fovea::server {

/// A picture to describe; its one line is empty.
struct CaptionJob final : Job {
  CaptionJob() { failure = "Cannot describe the picture"; }
  void prepare() override { results.resize(lines.size()); }

  CaptionOptions how;
  Picture picture;               // already of the model's size
  std::vector<Caption> results;  // one
};

class CaptionModel final : public Model {
 public:
  /// Its name is place.name or the folder's. Throws FileError, UsageError.
  [[nodiscard]] static std::unique_ptr<Model> load(const ModelPlace& place);
  CaptionModel(std::string name, std::unique_ptr<const Captioner> captioner);

  /// Whether there are weights to show.
  [[nodiscard]] bool attends() const { return captioner_->config().attends(); }
  /// Pixels on a side that it reads.
  [[nodiscard]] std::int64_t picture_size() const { return captioner_->config().pictures().picture_size; }

  [[nodiscard]] bool together(const Job& a, const Job& b) const override;
  BatchTokens run(std::span<const Item> items, BatchContext& context) const override;

 private:
  void add_description(nlohmann::json& json) const override;

  const std::unique_ptr<const Captioner> captioner_;
};

}  // namespace fovea::server
