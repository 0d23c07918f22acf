#include "tasks/training/report.hpp"

#include <fmt/format.h>

#include "model/config_json.hpp"
#include "view/report.hpp"

namespace fovea {
namespace {

view::Series series(const std::string& name, const std::vector<nlohmann::json>& log, const char* field) {
  view::Series s{name, {}};
  for (const auto& entry : log) {
    if (entry.contains(field) && entry[field].is_number()) {
      s.points.emplace_back(entry["step"].get<double>(), entry[field].get<double>());
    }
  }
  return s;
}

void add_chart(view::ReportPage& page, const std::string& title, std::vector<view::Series> lines, bool from_zero) {
  std::erase_if(lines, [](const view::Series& s) { return s.points.empty(); });
  if (!lines.empty()) page.charts.push_back({.title = title, .series = std::move(lines), .from_zero = from_zero});
}

// The fields of a configuration by their full names: encoder.layers, head.decoder.attention …
void add_settings(view::ReportPage& page, const nlohmann::json& config, const std::string& path) {
  for (const auto& [name, value] : config.items()) {
    if (value.is_object()) {
      add_settings(page, value, path + name + ".");
    } else {
      page.settings.emplace_back(path + name, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
}

// What a figure of the log is called, and what it is counted in.
struct Figure {
  const char* field;
  const char* name;
  const char* unit;
};

std::vector<Figure> figures_of(const TrainingJob& job) {
  return {{"bleu", "BLEU", ""},
          {"accuracy", job.task == Task::classify ? "accuracy" : "exact match", "%"},
          {"valid_loss", "validation loss", ""}};
}

std::string head_of(const ModelConfig& c) {
  if (const auto* classifier = std::get_if<ClassifierConfig>(&c.head)) {
    return fmt::format("{} pooling, {} labels", enum_text(classifier->pooling), classifier->labels);
  }
  return fmt::format("{} decoder", kind_of(c.generator().decoder));
}

}  // namespace

std::string training_report(const TrainingJob& job, const std::vector<nlohmann::json>& log,
                            const std::vector<ReportedLine>& lines, std::int64_t weights) {
  view::ReportPage page;
  page.title =
      job.model.filename().empty() ? job.model.parent_path().filename().string() : job.model.filename().string();
  const ModelConfig& c = job.config;
  page.lead = fmt::format("{} encoder, {}, {:.2f} million weights", kind_of(c.encoder), head_of(c),
                          static_cast<double>(weights) * 1e-6);
  const nlohmann::json* last = nullptr;
  const nlohmann::json* best = nullptr;
  for (const auto& entry : log) {
    if (entry.contains("tokens_per_second")) last = &entry;
    if (entry.value("best", false)) best = &entry;
  }
  if (best != nullptr) {
    for (const auto& [field, name, unit] : figures_of(job)) {
      if (best->contains(field) && (*best)[field].is_number())
        page.highlights.emplace_back(name, fmt::format("{:.2f}{}", (*best)[field].get<double>(), unit));
    }
  }
  if (last != nullptr) {
    page.highlights.emplace_back("steps", fmt::format("{}", (*last)["step"].get<std::int64_t>()));
    page.highlights.emplace_back("epochs", fmt::format("{}", last->value("epoch", 0)));
    page.highlights.emplace_back("minutes", fmt::format("{:.1f}", last->value("seconds", 0.0) / 60));
    page.highlights.emplace_back("tokens/s", fmt::format("{:.0f}", last->value("tokens_per_second", 0.0)));
  }
  add_chart(page, "Loss per token", {series("training", log, "loss"), series("validation", log, "valid_loss")}, false);
  add_chart(page, "Score on the validation lines",
            {series("BLEU", log, "bleu"), series(std::string(figures_of(job)[1].name) + ", %", log, "accuracy")}, true);
  add_chart(page, "Target tokens per second", {series("tokens/s", log, "tokens_per_second")}, true);
  add_chart(page, "Learning rate", {series("rate", log, "rate")}, true);
  for (const ReportedLine& line : lines) {
    page.samples.push_back({line.source, line.output, line.reference, line.attention});
  }
  add_settings(page, to_json(c), "");
  const TrainOptions& o = job.options;
  page.settings.emplace_back("batch-tokens", fmt::format("{}", o.batch_tokens));
  page.settings.emplace_back("dropout", fmt::format("{}", o.dropout));
  if (o.attention_dropout > 0) page.settings.emplace_back("attention-dropout", fmt::format("{}", o.attention_dropout));
  if (o.inner_dropout > 0) page.settings.emplace_back("inner-dropout", fmt::format("{}", o.inner_dropout));
  if (job.subword_sampling > 0) page.settings.emplace_back("subword-sampling", fmt::format("{}", job.subword_sampling));
  page.settings.emplace_back("label-smoothing", fmt::format("{}", o.label_smoothing));
  if (o.precision == Precision::bf16) page.settings.emplace_back("precision", has_bf16() ? "bf16" : "bf16 (fp32 here)");
  if (o.replicas > 0) page.settings.emplace_back("replicas", fmt::format("{}", o.replicas));
  if (o.r_drop > 0) page.settings.emplace_back("r-drop", fmt::format("{}", o.r_drop));
  page.settings.emplace_back("learning-rate", fmt::format("{:.3g}", o.schedule.peak));
  page.settings.emplace_back("warmup", fmt::format("{}", o.schedule.warmup));
  if (o.adam.clip > 0) page.settings.emplace_back("clip", fmt::format("{}", o.adam.clip));
  if (o.average > 1) page.settings.emplace_back("average", fmt::format("{}", o.average));
  if (o.adam.ema > 0) page.settings.emplace_back("ema", fmt::format("{}", o.adam.ema));
  page.settings.emplace_back("seed", fmt::format("{}", o.seed));
  return view::report_html(page);
}

}  // namespace fovea
