#include "tasks/training/text/pair_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/processes.hpp"
#include "fovea/classifier.hpp"
#include "fovea/metrics.hpp"
#include "fovea/translator.hpp"
#include "tasks/shared_lines.hpp"

namespace fovea {
namespace {

constexpr std::size_t kSamples = 3;        // lines shown of each validation
constexpr std::size_t kReportedLines = 6;  // lines shown in the report

std::vector<std::string> first_lines(const std::vector<std::string>& lines, std::size_t count) {
  return {lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(std::min(count, lines.size()))};
}

}  // namespace

std::vector<ValidationSample> written_samples(const TrainingJob& job, const Tokenizers& tokenizers,
                                              const text::ParallelText& text, const Parameters& weights,
                                              Validation& v) {
  const bool whole = job.validate != ValidateBy::loss;
  const auto lines = first_lines(text.source, whole ? text.source.size() : kSamples);
  const Translator translator(job.config, tokenizers, weights);
  const std::vector<std::string> outputs = shared_lines(processes(), lines.size(), [&](LineRange own) {
    std::vector<std::string> texts;
    for (const auto& best : translator.translate(own.of(lines), {.beam = 1, .skip_unreadable = true})) {
      texts.push_back(best[0].text);
    }
    return texts;
  });
  std::vector<ValidationSample> samples;
  for (std::size_t i = 0; i < std::min(kSamples, lines.size()); ++i) {
    samples.push_back({lines[i], text.target[i], outputs[i]});
  }
  if (!whole) return samples;
  std::int64_t exact = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) exact += outputs[i] == text.target[i] ? 1 : 0;
  const double accuracy = 100.0 * static_cast<double>(exact) / static_cast<double>(lines.size());
  const double score = bleu(outputs, {text.target}).score;
  v.figures.emplace_back("bleu", score);
  v.figures.emplace_back("accuracy", accuracy);
  v.score = job.validate == ValidateBy::bleu ? score : accuracy;
  v.text += fmt::format("  bleu {:.2f}  exact {:.2f}%", score, accuracy);
  if (job.validate != ValidateBy::rouge) return samples;
  v.score = rouge(outputs, {text.target}).rouge_l.f1;
  v.figures.emplace_back("rouge_l", v.score);
  v.text += fmt::format("  rouge-l {:.2f}", v.score);
  return samples;
}

std::vector<ValidationSample> labelled_samples(const TrainingJob& job, const Tokenizers& tokenizers,
                                               const text::ParallelText& text, const Parameters& weights,
                                               const BatchTotals& totals, std::int64_t lines, Validation& v) {
  // Of all lines: a label that training did not have is never right.
  const double accuracy = 100.0 * static_cast<double>(totals.correct) / static_cast<double>(lines);
  v.figures.emplace_back("accuracy", accuracy);
  if (job.validate == ValidateBy::accuracy) v.score = accuracy;
  v.text += fmt::format("  accuracy {:.2f}%", accuracy);
  const Classifier classifier(job.config, tokenizers, weights);
  const auto some = first_lines(text.source, kSamples);
  const auto results = classifier.classify(some, {.skip_long = true});
  std::vector<ValidationSample> samples;
  for (std::size_t i = 0; i < some.size(); ++i) samples.push_back({some[i], text.target[i], results[i].label});
  return samples;
}

std::vector<ReportedLine> reported_lines(const TrainingJob& job, const text::ParallelText& text) {
  const auto lines = first_lines(text.source, kReportedLines);
  std::vector<ReportedLine> reported;
  if (std::holds_alternative<ClassifyTraining>(job.task)) {
    const auto results = Classifier(job.model).classify(lines, {.skip_long = true});
    for (std::size_t i = 0; i < lines.size(); ++i) {
      reported.push_back({lines[i], text.target[i], results[i].label, results[i].record()});
    }
    return reported;
  }
  const auto results = Translator(job.model).translate(lines, {.attention = true, .skip_unreadable = true});
  for (std::size_t i = 0; i < lines.size(); ++i) {
    reported.push_back({lines[i], text.target[i], results[i][0].text, results[i][0].attention});
  }
  return reported;
}

}  // namespace fovea
