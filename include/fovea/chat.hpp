// A conversation with a model: what was said, and a reply to it.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/translator.hpp"

namespace FOVEA_API fovea {

/// How replies are written: the best one of a beam in which no three tokens in a row occur twice. `.sample = true` with
/// `.top_p = 0.9F` gives livelier ones.
struct ChatOptions : TranslateOptions {
  ChatOptions() {
    no_repeat_ngram = 3;
    max_length = 60;
  }
};

/// The turns as the line that a model of the task chat reads: separated by tabs, the oldest first. White space inside a
/// turn becomes a blank.
[[nodiscard]] std::string turns_line(std::span<const std::string> turns);

/// How much of the attention each turn of the source got, the oldest first: [target][turn]. The rows sum to what those
/// of the translation's attention do.
[[nodiscard]] std::vector<std::vector<float>> attention_over_turns(const Translation& reply);

/// Keeps the turns of one conversation, as many as its model reads.
///
///     fovea::Chat chat("chat");
///     std::string reply = chat.reply("hello");
class Chat {
 public:
  /// Throws FileError naming what is wrong with the folder, UsageError when its model is none for conversations.
  explicit Chat(const std::filesystem::path& folder, const ChatOptions& options = {});
  ~Chat();
  Chat(Chat&&) noexcept;
  Chat& operator=(Chat&&) noexcept;

  /// What the model says to this turn, after all before it; both are kept. A turn without text has an empty reply and
  /// is not kept.
  std::string reply(const std::string& text);
  /// Forgets everything that was said.
  void reset();

  /// What was said so far, the oldest first.
  [[nodiscard]] const std::vector<std::string>& turns() const { return turns_; }
  /// The last reply with its tokens and their attention to the turns before it; empty before the first one.
  [[nodiscard]] const Translation& last() const { return last_; }
  /// The model.
  [[nodiscard]] const Translator& translator() const { return *translator_; }

 private:
  std::unique_ptr<const Translator> translator_;
  ChatOptions options_;
  std::vector<std::string> turns_;
  Translation last_;
};

}  // namespace fovea
