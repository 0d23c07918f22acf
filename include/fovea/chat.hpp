// A conversation with a model: what was said, and a reply to it.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/translator.hpp"

namespace FOVEA_API fovea {

/// The turns as the line that a model of the task chat reads: separated by tabs, the oldest first. White space inside a
/// turn becomes a blank.
[[nodiscard]] std::string turns_line(std::span<const std::string> turns);

/// The last turns of a conversation as a line.
struct LatestTurns {
  std::string line{};  // as turns_line() has it
  std::int64_t tokens =
      0;  // of the line, with the end of sequence; more than fit where the last turn alone is too long
};
/// As many of the last turns as the model reads and fit into `most_tokens`; 0: into the model's positions. At least
/// one.
[[nodiscard]] LatestTurns latest_turns(const Translator& model, std::span<const std::string> turns,
                                       std::int64_t most_tokens = 0);

/// How much of the attention each turn of the source got, the oldest first: [target, turn]. The rows sum to what those
/// of the weights do.
[[nodiscard]] AttentionMatrix attention_over_turns(const AttentionRecord& reply);

/// Keeps the turns of one conversation, as many as its model reads.
///
///     fovea::Chat chat("chat");
///     std::string reply = chat.reply("hello");
///
///     fovea::Chat livelier("chat", {.sample = true, .top_p = 0.9F});
class Chat {
 public:
  /// Replies have attention if the model attends. Throws FileError naming what is wrong with the folder, UsageError
  /// when its model is none for conversations, or naming an option that cannot be.
  explicit Chat(const std::filesystem::path& folder, const GenerateOptions& options = {});
  ~Chat();
  Chat(Chat&&) noexcept;
  Chat& operator=(Chat&&) noexcept;

  /// The model's reply to this turn, after all before it; both are kept. A turn without text has an empty reply and is
  /// not kept.
  std::string reply(const std::string& text);
  /// Forgets the conversation.
  void reset();

  /// All turns so far, the oldest first.
  [[nodiscard]] const std::vector<std::string>& turns() const { return turns_; }
  /// The last reply with its tokens and their attention to the turns before it; empty before the first one.
  [[nodiscard]] const Generated& last() const { return last_; }
  /// The model.
  [[nodiscard]] const Translator& translator() const { return *translator_; }

 private:
  std::unique_ptr<const Translator> translator_;
  GenerateOptions options_;
  std::vector<std::string> turns_;
  Generated last_;
};

}  // namespace fovea
