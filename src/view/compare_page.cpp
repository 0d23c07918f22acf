#include "view/compare_page.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "view/page.hpp"

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
    pictures.back().title.clear();  // it stands above the picture
  }
  PageParts parts;
  parts.title = checkpoints ? "One sentence along a training"
                : models    ? "One sentence, several models"
                            : "One sentence under five scores";
  parts.title_chinese = checkpoints ? "一个句子，训练过程中的注意力"
                        : models    ? "一个句子，几个模型"
                                    : "一个句子，五种打分函数";
  parts.lead = "“" + sentence + "”";
  parts.body = "<div id=\"compare\"><noscript>This page draws with JavaScript.</noscript></div>\n" +
               data_element("pictures", records_json(pictures)) +
               data_element("compared", nlohmann::json{{"checkpoints", checkpoints}, {"entries", entries}}.dump());
  parts.styles = {"attention.css", "training.css", "compare.css"};
  parts.scripts = attention_scripts();
  parts.scripts.insert(parts.scripts.end(), {"checkpoints.js", "compare.js"});
  return html_page(parts);
}

}  // namespace fovea::view
