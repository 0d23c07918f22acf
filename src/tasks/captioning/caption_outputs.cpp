#include "tasks/captioning/caption_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/processes.hpp"
#include "fovea/metrics/caption.hpp"
#include "tasks/shared_lines.hpp"

namespace fovea {
namespace {

constexpr std::size_t kShownPictures = 3;     // of each validation
constexpr std::size_t kReportedPictures = 6;  // in the report

// Those that can be read, each with all of its captions.
struct DescribedPictures {
  DescribedPictures(const text::ParallelText& text, const PictureStore& pictures) {
    std::unordered_map<std::string, std::size_t> known;
    for (std::int64_t i = 0; i < pictures.size(); ++i) {
      if (!pictures.error(i).empty()) continue;
      known.emplace(pictures.place(i), places.size());
      places.push_back(pictures.place(i));
      numbers.push_back(i);
    }
    captions.resize(places.size());
    for (std::size_t i = 0; i < text.source.size(); ++i) {
      const auto found = known.find(text.source[i]);
      if (found != known.end()) captions[found->second].push_back(text.target[i]);
    }
  }
  std::vector<std::string> places;
  std::vector<std::int64_t> numbers;  // in the store
  std::vector<std::vector<std::string>> captions;
};

// What a frozen CNN has made of pictures is there already.
std::vector<std::string> greedy_captions(const Captioner& captioner, const CaptionData& data,
                                         std::span<const std::string> places, std::span<const std::int64_t> numbers) {
  constexpr std::size_t at_once = 256;
  const GenerateOptions how{.beam = 1};
  std::vector<std::string> texts;
  for (std::size_t begin = 0; begin < places.size(); begin += at_once) {
    const std::size_t count = std::min(at_once, places.size() - begin);
    const auto results = data.features != nullptr
                             ? captioner.captions(data.features->features(numbers.subspan(begin, count)), how)
                             : captioner.captions(places.subspan(begin, count), how);
    for (const auto& best : results) texts.push_back(best[0].text);
  }
  return texts;
}

void add_caption_figures(const TrainingJob& job, const DescribedPictures& pictures, const Lines& outputs,
                         Validation& v) {
  std::size_t most = 0;
  for (const auto& captions : pictures.captions) most = std::max(most, captions.size());
  References references(most, Lines(outputs.size()));
  std::int64_t exact = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& captions = pictures.captions[i];
    exact += std::find(captions.begin(), captions.end(), outputs[i]) != captions.end() ? 1 : 0;
    for (std::size_t r = 0; r < captions.size(); ++r) references[r][i] = captions[r];
  }
  const double accuracy = 100.0 * static_cast<double>(exact) / static_cast<double>(outputs.size());
  const CaptionFigures figures = caption_figures(outputs, references);
  v.figures.emplace_back("bleu", figures.bleu[3]);
  v.figures.emplace_back("accuracy", accuracy);
  v.figures.emplace_back("rouge_l", figures.rouge_l);
  v.score = job.validate == ValidateBy::bleu    ? figures.bleu[3]
            : job.validate == ValidateBy::rouge ? figures.rouge_l
                                                : accuracy;
  v.text +=
      fmt::format("  bleu-1 {:.2f}  bleu-4 {:.2f}  cider {:.1f}", figures.bleu[0], figures.bleu[3], figures.cider);
}

}  // namespace

std::vector<ValidationSample> caption_samples(const TrainingJob& job, const Tokenizers& tokenizers,
                                              const text::ParallelText& text, const CaptionData& data,
                                              const Parameters& weights, Validation& v) {
  const DescribedPictures pictures(text, data.pictures);
  const std::size_t all = pictures.places.size();
  const bool whole = job.validate != ValidateBy::loss;
  const Captioner captioner(job.config, tokenizers, weights);
  const Lines outputs = shared_lines(processes(), whole ? all : std::min(kShownPictures, all), [&](LineRange own) {
    const std::size_t count = own.end - own.begin;
    return greedy_captions(captioner, data, std::span(pictures.places).subspan(own.begin, count),
                           std::span(pictures.numbers).subspan(own.begin, count));
  });
  if (whole) add_caption_figures(job, pictures, outputs, v);
  std::vector<ValidationSample> samples;
  for (std::size_t i = 0; i < std::min(kShownPictures, all); ++i) {
    samples.push_back({pictures.places[i], pictures.captions[i][0], outputs[i]});
  }
  return samples;
}

std::vector<ReportedLine> reported_captions(const TrainingJob& job, const text::ParallelText& text,
                                            const PictureStore& pictures) {
  const DescribedPictures described(text, pictures);
  const auto places = std::span(described.places).first(std::min(kReportedPictures, described.places.size()));
  const auto results = Captioner(job.model).captions(places);
  std::vector<ReportedLine> lines;
  for (std::size_t i = 0; i < places.size(); ++i) {
    lines.push_back({places[i], described.captions[i][0], results[i][0].text, {}});
  }
  return lines;
}

}  // namespace fovea
