#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "view/lesson/lesson.hpp"

namespace fovea::view {
namespace {

using nlohmann::json;

json message_json(const Message& message) {
  if (message.key.empty()) return message.text;
  json out{{"key", message.key}};
  for (const auto& [name, value] : message.values) out["values"][name] = message_json(value);
  return out;
}

json message_list(const std::vector<Message>& messages) {
  json out = json::array();
  for (const Message& one : messages) out.push_back(message_json(one));
  return out;
}

// The double with the same shortest digits: 0.1F as 0.1.
json number_json(float value) {
  if (!std::isfinite(value)) return nullptr;
  std::array<char, 64> digits;
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  double same = 0;
  std::from_chars(digits.data(), end, same);
  return same;
}

json table_json(const LessonTable& table) {
  json out{{"name", message_json(table.name)}, {"decimals", table.decimals}, {"values", json::array()}};
  if (!table.id.empty()) out["id"] = table.id;
  if (!table.rows.empty()) out["rows"] = message_list(table.rows);
  if (!table.columns.empty()) out["columns"] = message_list(table.columns);
  if (table.weights) out["weights"] = true;
  if (!table.note.empty()) out["note"] = message_json(table.note);
  for (std::int64_t r = 0; r < table.numbers.rows; ++r) {
    json row = json::array();
    for (std::int64_t c = 0; c < table.numbers.columns; ++c) row.push_back(number_json(table.numbers.at(r, c)));
    out["values"].push_back(std::move(row));
  }
  return out;
}

}  // namespace

std::string lesson_json(const Lesson& lesson) {
  json out{{"language", lesson.language == LessonLanguage::chinese ? "zh" : "en"},
           {"title", message_json(lesson.title)},
           {"lead", message_json(lesson.lead)},
           {"closing", message_list(lesson.closing)},
           {"folded", lesson.folded},
           {"self", lesson.self_attention},
           {"steps", json::array()}};
  if (!lesson.picture.source.empty()) out["picture"] = json::parse(to_json(lesson.picture, {.decimals = 4}));
  for (const LessonStep& step : lesson.steps) {
    json tables = json::array();
    for (const LessonTable& table : step.tables) tables.push_back(table_json(table));
    out["steps"].push_back({{"title", message_json(step.title)},
                            {"formula", message_json(step.formula)},
                            {"text", message_list(step.text)},
                            {"tables", std::move(tables)},
                            {"worked", message_list(step.worked)}});
  }
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace fovea::view
