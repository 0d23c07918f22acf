// A served chat model.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/chat.hpp"
#include "server/api/models/models.hpp"

namespace fovea::server {

/// The turns to reply to, as one line.
struct ChatJob final : Job {
  ChatJob() { failure = "Cannot reply"; }
  void prepare() override { replies.resize(lines.size()); }

  GenerateOptions how;
  std::vector<Generated> replies;
};

class ChatModel final : public Model {
 public:
  /// Named place.name or like the folder. Throws FileError, UsageError.
  [[nodiscard]] static std::unique_ptr<Model> load(const ModelPlace& place);
  ChatModel(std::string name, std::unique_ptr<const Translator> translator);

  [[nodiscard]] bool attends() const { return translator_->attends(); }
  /// The last turns that fit, as one line. Throws Refusal 400 when the last turn alone is too long.
  [[nodiscard]] std::string line(std::span<const std::string> turns) const;
  /// Throws UsageError naming an invalid option.
  void check(const GenerateOptions& how) const { translator_->check(how); }

  [[nodiscard]] bool together(const Job& a, const Job& b) const override;
  [[nodiscard]] std::size_t needs(const Item& item) const override;
  BatchTokens run(std::span<const Item> items, BatchContext& context) const override;

 private:
  void add_description(nlohmann::json& json) const override;

  const std::unique_ptr<const Translator> translator_;
  const std::size_t longest_;  // tokens of a line
};

}  // namespace fovea::server
