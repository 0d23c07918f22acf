// The words of the worked examples: web/words/lesson_words.json, which the page and the terminal share. A text in
// several lines is a list there.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fovea::view {

enum class LessonLanguage { english, chinese };

/// "en" or "zh". Throws UsageError for any other.
[[nodiscard]] LessonLanguage lesson_language(std::string_view name);
/// Chinese for a sentence that contains Chinese characters.
[[nodiscard]] LessonLanguage language_of(std::string_view sentence);

/// A sentence of the dictionary with the values of its {placeholders}, or a text that is the same in every language.
struct Message {
  using Values = std::vector<std::pair<std::string, Message>>;

  std::string key{};   // in the dictionary; empty: `text`
  std::string text{};  // without a key
  Values values{};

  Message() = default;
  Message(std::string verbatim) : text(std::move(verbatim)) {}
  Message(const char* verbatim) : text(verbatim) {}
  Message(std::integral auto number) : text(std::to_string(number)) {}
  [[nodiscard]] static Message of(std::string key, Values values = {}) {
    Message message;
    message.key = std::move(key);
    message.values = std::move(values);
    return message;
  }
  [[nodiscard]] bool empty() const { return key.empty() && text.empty(); }
};

/// The dictionary in one language.
class LessonWords {
 public:
  explicit LessonWords(LessonLanguage language) : language_(language) {}
  /// The text of a message. Throws Error for a key that the dictionary lacks.
  [[nodiscard]] std::string operator()(const Message& message) const;
  /// Several sentences as one paragraph.
  [[nodiscard]] std::string operator()(const std::vector<Message>& sentences) const;
  [[nodiscard]] std::vector<std::string> each(const std::vector<Message>& messages) const;
  /// The language as HTML's lang attribute has it.
  [[nodiscard]] const char* tag() const { return language_ == LessonLanguage::chinese ? "zh-Hans" : "en"; }

 private:
  [[nodiscard]] std::string entry(const std::string& key) const;

  LessonLanguage language_;
};

}  // namespace fovea::view
