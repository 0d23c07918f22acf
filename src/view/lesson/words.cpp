#include "view/lesson/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fovea/error.hpp"
#include "view/assets.hpp"

namespace fovea::view {
namespace {

const nlohmann::json& dictionary() {
  static const nlohmann::json words = nlohmann::json::parse(asset("lesson_words.json"));
  return words;
}

}  // namespace

LessonLanguage lesson_language(std::string_view name) {
  if (name == "en") return LessonLanguage::english;
  if (name == "zh") return LessonLanguage::chinese;
  throw UsageError("language", fmt::format("must be en or zh, is \"{}\"", name));
}

LessonLanguage language_of(std::string_view sentence) {
  // The first byte of U+4E00 to U+9FFF in UTF-8.
  const bool chinese = std::any_of(sentence.begin(), sentence.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0xE4 && byte <= 0xE9;
  });
  return chinese ? LessonLanguage::chinese : LessonLanguage::english;
}

std::string LessonWords::entry(const std::string& key) const {
  const auto found = dictionary().find(key);
  if (found == dictionary().end()) throw Error("lesson_words.json: has no key " + key);
  const nlohmann::json& text =
      found->is_object() ? found->at(language_ == LessonLanguage::chinese ? "zh" : "en") : *found;
  if (text.is_string()) return text.get<std::string>();
  return fmt::format("{}", fmt::join(text.get<std::vector<std::string>>(), entry("space")));
}

std::string LessonWords::operator()(const Message& message) const {
  if (message.key.empty()) return message.text;
  const std::string pattern = entry(message.key);
  std::string_view rest = pattern;
  std::string out;
  for (std::size_t open = rest.find('{'); open != rest.npos; open = rest.find('{')) {
    const std::size_t close = rest.find('}', open);
    const std::string_view name = rest.substr(open + 1, close - open - 1);
    const auto value = std::find_if(message.values.begin(), message.values.end(),
                                    [name](const auto& one) { return one.first == name; });
    if (value == message.values.end()) throw Error(fmt::format("{}: has no value for {}", message.key, name));
    out += rest.substr(0, open);
    out += (*this)(value->second);
    rest.remove_prefix(close + 1);
  }
  out += rest;
  return out;
}

std::string LessonWords::operator()(const std::vector<Message>& sentences) const {
  std::string out;
  for (const Message& one : sentences) {
    if (!out.empty()) out += entry("space");
    out += (*this)(one);
  }
  return out;
}

std::vector<std::string> LessonWords::each(const std::vector<Message>& messages) const {
  std::vector<std::string> out;
  out.reserve(messages.size());
  for (const Message& one : messages) out.push_back((*this)(one));
  return out;
}

}  // namespace fovea::view
