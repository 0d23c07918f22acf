#include "server/api/texts/texts.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "server/api/texts/limits.hpp"

namespace fovea::server {
namespace {

// Converts \r\n and \r to \n: browsers send \r\n in forms.
std::string unix_lines(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r') {
      if (i + 1 < text.size() && text[i + 1] == '\n') continue;
      out += '\n';
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

Texts Texts::read(const Fields& fields) {
  const nlohmann::json& q = fields["q"];
  const bool missing =
      q.is_null() || (q.is_string() && q.get_ref<const std::string&>().empty()) || (q.is_array() && q.empty());
  if (missing) throw Refusal(400, "Invalid request: missing q parameter");
  Texts texts;
  if (q.is_string()) {
    texts.list.push_back(fields.json() ? q.get<std::string>() : unix_lines(q.get<std::string>()));
    return texts;
  }
  texts.array = q.is_array();
  const bool strings = q.is_array() && std::all_of(q.begin(), q.end(), [](const auto& e) { return e.is_string(); });
  if (!strings) throw Refusal(400, "Invalid request: q parameter is not a string or an array of strings");
  for (const auto& e : q) texts.list.push_back(e.get<std::string>());
  return texts;
}

void Texts::check(int most_texts, int most_characters) const {
  if (array) check_limit(list.size(), most_texts);
  for (const std::string& text : list) check_limit(characters(text), most_characters);
}

void hold_request(Job& job, std::size_t bytes, std::size_t results) {
  constexpr std::size_t per_result = 512;
  if (!job.memory.grow(6 * bytes + per_result * results)) {
    throw Refusal(429, "Slowdown: too much text is waiting", 2);
  }
}

}  // namespace fovea::server
