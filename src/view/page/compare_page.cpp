#include "view/page/compare_page.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "view/page/page.hpp"

namespace fovea::view {

std::string heading(const Compared& one) {
  if (!one.log_probability) return one.name;
  std::string text = fmt::format("{}: {}  (log-probability {:.3f})", one.name, one.shown, *one.log_probability);
  if (one.writes != one.shown) text += fmt::format("; writes: {}", one.writes);
  return text;
}

std::string compare_page(const std::vector<Compared>& all, bool checkpoints, const std::string& sentence) {
  nlohmann::json entries = nlohmann::json::array();
  std::vector<AttentionRecord> pictures;
  bool models = false;
  for (const Compared& one : all) {
    nlohmann::json entry{{"name", one.name}, {"writes", one.writes}, {"shown", one.shown}};
    entry["step"] = one.step ? nlohmann::json(*one.step) : nlohmann::json();
    entry["log_probability"] = one.log_probability ? nlohmann::json(*one.log_probability) : nlohmann::json();
    models = models || one.log_probability.has_value();
    entries.push_back(std::move(entry));
    pictures.push_back(one.record);
    pictures.back().title.clear();  // the page writes it above the picture
  }
  const char* kind = checkpoints ? "checkpoints" : models ? "models" : "scores";
  const nlohmann::json compared{{"kind", kind}, {"sentence", sentence}, {"entries", entries}};
  return html_page({.kind = "compare",
                    .title = sentence,
                    .data = {{"pictures", records_json(pictures)}, {"compared", compared.dump()}}});
}

}  // namespace fovea::view
