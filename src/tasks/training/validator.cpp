#include "tasks/training/validator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/processes.hpp"
#include "fovea/classifier.hpp"
#include "fovea/metrics.hpp"
#include "fovea/precision.hpp"
#include "tasks/shared_lines.hpp"

namespace fovea {
namespace {

constexpr std::size_t kSamples = 3;        // lines shown of each validation
constexpr std::size_t kReportedLines = 6;  // lines shown in the report

std::vector<std::string> first_lines(const std::vector<std::string>& lines, std::size_t count) {
  return {lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(std::min(count, lines.size()))};
}

}  // namespace

Validator::Validator(const TrainingJob& job, const Tokenizers& tokenizers, const text::ParallelText& text,
                     const text::Corpus& corpus, const Parameters& parameters, TrainingObserver& observer)
    : job_(job), tokenizers_(tokenizers), text_(text), corpus_(corpus), parameters_(parameters), observer_(observer) {}

Parameters Validator::with(std::span<const Tensor> weights) const {
  Parameters p(0);
  for (std::size_t i = 0; i < weights.size(); ++i) p.put(parameters_.entries()[i].name, weights[i]);
  p.seal();
  return p;
}

Validation Validator::operator()(std::span<const Tensor> weights) const {
  const ScopedPrecision products(Precision::fp32);  // as the model will be used
  Parameters validated = with(weights);
  const LearnerFactory learners = job_learners(job_, corpus_);
  Workers workers(learners, validated, job_.options.replica_count(), processes());
  std::vector<std::int64_t> all(static_cast<std::size_t>(corpus_.size()));
  std::iota(all.begin(), all.end(), 0);
  const BatchTotals totals = workers.measure(PairExamples(corpus_), all, job_.options.micro_tokens);
  Validation v;
  v.loss = totals.nll / static_cast<double>(std::max<std::int64_t>(1, totals.outputs));
  v.score = -v.loss;
  v.figures.emplace_back("valid_loss", v.loss);
  v.text = fmt::format("loss {:.4f}  ppl {:.2f}", v.loss, std::exp(v.loss));
  observer_.samples(job_.task == Task::classify ? classify(validated, totals, v) : translate(validated, v));
  return v;
}

std::vector<ValidationSample> Validator::translate(const Parameters& validated, Validation& v) const {
  const bool whole = job_.validate_by != ValidateBy::loss;
  const auto lines = first_lines(text_.source, whole ? text_.source.size() : kSamples);
  const Translator translator(job_.config, tokenizers_, validated);
  const std::vector<std::string> outputs = shared_lines(processes(), lines.size(), [&](LineRange own) {
    std::vector<std::string> texts;
    for (const auto& best : translator.translate(own.of(lines), {.beam = 1, .skip_long = true})) {
      texts.push_back(best[0].text);
    }
    return texts;
  });
  std::vector<ValidationSample> samples;
  for (std::size_t i = 0; i < std::min(kSamples, lines.size()); ++i) {
    samples.push_back({lines[i], text_.target[i], outputs[i]});
  }
  if (!whole) return samples;
  std::int64_t exact = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) exact += outputs[i] == text_.target[i] ? 1 : 0;
  const double accuracy = 100.0 * static_cast<double>(exact) / static_cast<double>(lines.size());
  const double score = bleu(outputs, {text_.target}).score;
  v.figures.emplace_back("bleu", score);
  v.figures.emplace_back("accuracy", accuracy);
  v.score = job_.validate_by == ValidateBy::bleu ? score : accuracy;
  v.text += fmt::format("  bleu {:.2f}  exact {:.2f}%", score, accuracy);
  if (job_.validate_by != ValidateBy::rouge) return samples;
  v.score = rouge(outputs, {text_.target}).rouge_l.f1;
  v.figures.emplace_back("rouge_l", v.score);
  v.text += fmt::format("  rouge-l {:.2f}", v.score);
  return samples;
}

std::vector<ValidationSample> Validator::classify(const Parameters& validated, const BatchTotals& totals,
                                                  Validation& v) const {
  // Of all lines: a label that training did not have is never right.
  const double accuracy = 100.0 * static_cast<double>(totals.correct) / static_cast<double>(corpus_.size());
  v.figures.emplace_back("accuracy", accuracy);
  if (job_.validate_by == ValidateBy::accuracy) v.score = accuracy;
  v.text += fmt::format("  accuracy {:.2f}%", accuracy);
  const Classifier classifier(job_.config, tokenizers_, validated);
  const auto lines = first_lines(text_.source, kSamples);
  const auto results = classifier.classify(lines, {.skip_long = true});
  std::vector<ValidationSample> samples;
  for (std::size_t i = 0; i < lines.size(); ++i) samples.push_back({lines[i], text_.target[i], results[i].label});
  return samples;
}

std::vector<ReportedLine> Validator::report_lines(const std::filesystem::path& folder) const {
  const auto lines = first_lines(text_.source, kReportedLines);
  std::vector<ReportedLine> reported;
  if (job_.task == Task::classify) {
    const auto results = Classifier(folder).classify(lines, {.skip_long = true});
    for (std::size_t i = 0; i < lines.size(); ++i) {
      reported.push_back({lines[i], text_.target[i], results[i].label, results[i].record()});
    }
    return reported;
  }
  const auto results = Translator(folder).translate(lines, {.attention = true, .skip_long = true});
  for (std::size_t i = 0; i < lines.size(); ++i) {
    reported.push_back({lines[i], text_.target[i], results[i][0].text, results[i][0].record()});
  }
  return reported;
}

}  // namespace fovea
