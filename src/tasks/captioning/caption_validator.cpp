#include "tasks/captioning/caption_validator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "base/processes.hpp"
#include "fovea/metrics/caption.hpp"
#include "fovea/precision.hpp"
#include "train/workers.hpp"

namespace fovea {
namespace {

constexpr std::size_t kShownPictures = 3;     // of each validation
constexpr std::size_t kReportedPictures = 6;  // in the report

}  // namespace

CaptionValidator::CaptionValidator(const TrainingJob& job, const Tokenizers& tokenizers, const text::ParallelText& text,
                                   const CaptionData& data, const Parameters& parameters, TrainingObserver& observer)
    : job_(job), tokenizers_(tokenizers), data_(data), parameters_(parameters), observer_(observer) {
  std::unordered_map<std::string, std::size_t> numbers;
  for (std::int64_t i = 0; i < data.pictures.size(); ++i) {
    if (!data.pictures.error(i).empty()) continue;
    numbers.emplace(data.pictures.place(i), pictures_.size());
    pictures_.push_back({data.pictures.place(i), {}});
    numbers_.push_back(i);
  }
  for (std::size_t i = 0; i < text.source.size(); ++i) {
    const auto found = numbers.find(text.source[i]);
    if (found != numbers.end()) pictures_[found->second].captions.push_back(text.target[i]);
  }
}

// A frozen CNN has seen them already.
std::vector<std::vector<Caption>> CaptionValidator::cached_captions(const Captioner& captioner,
                                                                    std::size_t count) const {
  constexpr std::size_t at_once = 256;
  std::vector<std::vector<Caption>> all;
  for (std::size_t begin = 0; begin < count; begin += at_once) {
    const auto some = std::span(numbers_).subspan(begin, std::min(at_once, count - begin));
    auto part = captioner.captions(data_.features->features(some), {.beam = 1});
    std::move(part.begin(), part.end(), std::back_inserter(all));
  }
  return all;
}

Validation CaptionValidator::operator()(std::span<const Tensor> weights) const {
  const ScopedPrecision products(Precision::fp32);  // as the model will be used
  Parameters validated(0);
  for (std::size_t i = 0; i < weights.size(); ++i) validated.put(parameters_.entries()[i].name, weights[i]);
  validated.seal();
  const LearnerFactory learners = caption_learners(data_);
  Workers workers(learners, validated, job_.options.replica_count(), processes());
  std::vector<std::int64_t> all(static_cast<std::size_t>(data_.captions.examples()));
  std::iota(all.begin(), all.end(), 0);
  const BatchTotals totals = workers.measure(data_.captions, all, job_.options.micro_tokens);
  Validation v;
  v.loss = totals.nll / static_cast<double>(std::max<std::int64_t>(1, totals.outputs));
  v.score = -v.loss;
  v.figures.emplace_back("valid_loss", v.loss);
  v.text = fmt::format("loss {:.4f}  ppl {:.2f}", v.loss, std::exp(v.loss));

  const bool whole = job_.validate_by != ValidateBy::loss;
  std::vector<std::string> places;
  for (std::size_t i = 0; i < (whole ? pictures_.size() : std::min(kShownPictures, pictures_.size())); ++i) {
    places.push_back(pictures_[i].place);
  }
  const Captioner captioner(job_.config, tokenizers_, validated);
  const auto results =
      data_.features != nullptr ? cached_captions(captioner, places.size()) : captioner.captions(places, {.beam = 1});
  std::vector<ValidationSample> samples;
  for (std::size_t i = 0; i < std::min(kShownPictures, places.size()); ++i) {
    samples.push_back({places[i], pictures_[i].captions[0], results[i][0].text});
  }
  observer_.samples(samples);
  if (!whole) return v;
  std::size_t most = 0;
  for (const Described& picture : pictures_) most = std::max(most, picture.captions.size());
  References references(most, Lines(pictures_.size()));
  Lines outputs;
  std::int64_t exact = 0;
  for (std::size_t i = 0; i < pictures_.size(); ++i) {
    const auto& captions = pictures_[i].captions;
    outputs.push_back(results[i][0].text);
    exact += std::find(captions.begin(), captions.end(), outputs.back()) != captions.end() ? 1 : 0;
    for (std::size_t r = 0; r < captions.size(); ++r) references[r][i] = captions[r];
  }
  const double accuracy = 100.0 * static_cast<double>(exact) / static_cast<double>(pictures_.size());
  const CaptionFigures figures = caption_figures(outputs, references);
  v.figures.emplace_back("bleu", figures.bleu[3]);
  v.figures.emplace_back("accuracy", accuracy);
  v.score = job_.validate_by == ValidateBy::bleu ? figures.bleu[3] : accuracy;
  v.text +=
      fmt::format("  bleu-1 {:.2f}  bleu-4 {:.2f}  cider {:.1f}", figures.bleu[0], figures.bleu[3], figures.cider);
  return v;
}

std::vector<ReportedLine> CaptionValidator::report_lines(const std::filesystem::path& folder) const {
  std::vector<std::string> places;
  for (std::size_t i = 0; i < std::min(kReportedPictures, pictures_.size()); ++i) places.push_back(pictures_[i].place);
  const Captioner captioner(folder);
  const auto results = captioner.captions(places);
  std::vector<ReportedLine> lines;
  for (std::size_t i = 0; i < places.size(); ++i) {
    lines.push_back({places[i], pictures_[i].captions[0], results[i][0].text, {}});
  }
  return lines;
}

}  // namespace fovea
