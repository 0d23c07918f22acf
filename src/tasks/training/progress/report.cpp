#include "tasks/training/progress/report.hpp"

#include <fmt/format.h>

#include "model/config_json.hpp"
#include "view/page/report_page.hpp"

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

void add_chart(view::ReportPage& page, const std::string& name, std::vector<view::Series> lines, bool from_zero) {
  std::erase_if(lines, [](const view::Series& s) { return s.points.empty(); });
  if (!lines.empty()) page.charts.push_back({.name = name, .series = std::move(lines), .from_zero = from_zero});
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

// The report's name of "accuracy" in the log.
const char* accuracy_name(const TrainingJob& job) {
  return std::holds_alternative<ClassifyTraining>(job.task) ? "accuracy" : "exact_match";
}

void add_model(view::ReportPage& page, const ModelConfig& c, std::int64_t weights) {
  page.encoder = kind_of(c.encoder);
  page.weights = weights;
  if (const auto* classifier = std::get_if<ClassifierConfig>(&c.head)) {
    page.pooling = enum_text(classifier->pooling);
    page.labels = classifier->labels;
  } else {
    page.decoder = kind_of(c.generator().decoder);
  }
}

// The scores of the best model, and the size of the training.
void add_figures(view::ReportPage& page, const TrainingJob& job, const std::vector<nlohmann::json>& log) {
  const nlohmann::json* last = nullptr;
  const nlohmann::json* best = nullptr;
  for (const auto& entry : log) {
    if (entry.contains("tokens_per_second")) last = &entry;
    if (entry.value("best", false)) best = &entry;
  }
  if (best != nullptr) {
    for (const auto& [field, name] :
         {std::pair{"bleu", "bleu"}, {"accuracy", accuracy_name(job)}, {"valid_loss", "valid_loss"}}) {
      if (best->contains(field) && (*best)[field].is_number())
        page.figures.emplace_back(name, (*best)[field].get<double>());
    }
  }
  if (last == nullptr) return;
  page.figures.emplace_back("steps", (*last)["step"].get<double>());
  page.figures.emplace_back("epochs", last->value("epoch", 0));
  page.figures.emplace_back("minutes", last->value("seconds", 0.0) / 60);
  page.figures.emplace_back("tokens_per_second", last->value("tokens_per_second", 0.0));
}

// Options of the training that are not part of the model.
void add_options(view::ReportPage& page, const TrainingJob& job) {
  const TrainOptions& o = job.options;
  page.settings.emplace_back("batch-tokens", fmt::format("{}", o.batch_tokens));
  page.settings.emplace_back("dropout", fmt::format("{}", o.dropout));
  if (o.attention_dropout > 0) page.settings.emplace_back("attention-dropout", fmt::format("{}", o.attention_dropout));
  if (o.inner_dropout > 0) page.settings.emplace_back("inner-dropout", fmt::format("{}", o.inner_dropout));
  if (job.subword_sampling > 0) page.settings.emplace_back("subword-sampling", fmt::format("{}", job.subword_sampling));
  page.settings.emplace_back("label-smoothing", fmt::format("{}", o.loss.label_smoothing));
  if (o.precision == Precision::bf16) page.settings.emplace_back("precision", has_bf16() ? "bf16" : "bf16 (fp32 here)");
  if (o.replicas > 0) page.settings.emplace_back("replicas", fmt::format("{}", o.replicas));
  if (o.loss.r_drop > 0) page.settings.emplace_back("r-drop", fmt::format("{}", o.loss.r_drop));
  page.settings.emplace_back("learning-rate", fmt::format("{:.3g}", o.adam.rate));
  page.settings.emplace_back("warmup", fmt::format("{}", o.schedule.warmup));
  if (o.adam.clip > 0) page.settings.emplace_back("clip", fmt::format("{}", o.adam.clip));
  if (o.average > 1) page.settings.emplace_back("average", fmt::format("{}", o.average));
  if (o.adam.ema > 0) page.settings.emplace_back("ema", fmt::format("{}", o.adam.ema));
  page.settings.emplace_back("seed", fmt::format("{}", o.seed));
}

}  // namespace

std::string training_report(const TrainingJob& job, const std::vector<nlohmann::json>& log,
                            const std::vector<ReportedLine>& lines, std::int64_t weights) {
  view::ReportPage page;
  page.title =
      job.model.filename().empty() ? job.model.parent_path().filename().string() : job.model.filename().string();
  add_model(page, job.config, weights);
  add_figures(page, job, log);
  add_chart(page, "loss", {series("training", log, "loss"), series("validation", log, "valid_loss")}, false);
  add_chart(page, "score", {series("bleu", log, "bleu"), series(accuracy_name(job), log, "accuracy")}, true);
  add_chart(page, "speed", {series("tokens_per_second", log, "tokens_per_second")}, true);
  add_chart(page, "rate", {series("rate", log, "rate")}, true);
  for (const ReportedLine& line : lines) {
    page.samples.push_back({line.source, line.output, line.reference, line.attention});
  }
  add_settings(page, to_json(job.config), "");
  add_options(page, job);
  return view::report_html(page);
}

}  // namespace fovea
