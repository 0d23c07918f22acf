// Bahdanau's and Luong's decoder on the same small translation, each step in numbers.
#include <fmt/format.h>

#include <cmath>

#include "fovea/inspector.hpp"
#include "tasks/learning/answers.hpp"
#include "tasks/learning/live_lesson.hpp"
#include "tasks/learning/toy_translator.hpp"

namespace fovea::learning {
namespace {

ToyTraining translating(const char* name, RnnForm form, RnnAttention attention) {
  ToyTraining how{.name = name, .words = all_phrase_words(), .line = random_phrase, .steps = 250, .rate = 0.01F};
  how.config.encoder = RnnEncoderConfig{.dim = 16};
  how.config.tokens().embedding = 16;
  how.config.generator() = {
      .decoder =
          RnnDecoderConfig{.dim = 24, .attention = attention, .form = form, .input_feeding = form == RnnForm::luong},
      .embedding = 16};
  return how;
}

// The numbers that the page draws.
nlohmann::json step_numbers(const ModelRun& run) {
  auto next = nlohmann::json::array();
  for (const auto& candidates : run.next) {
    auto row = nlohmann::json::array();
    for (const Candidate& one : candidates) {
      row.push_back({{"text", one.text}, {"p", rounded(std::exp(one.log_probability))}});
    }
    next.push_back(std::move(row));
  }
  return {{"text", run.output},
          {"source", run.source},
          {"target", run.target},
          {"states", rows_of(run.trace.at("encoder.output"))},
          {"scores", rows_of(run.trace.at("decoder.attention.scores"))},
          {"weights", rows_of(run.trace.at("decoder.attention.weights"))},
          {"context", rows_of(run.trace.at("decoder.attention.context"))},
          {"state", rows_of(run.trace.at("decoder.state"))},
          {"next", next}};
}

class DecoderSteps final : public LiveLesson {
 public:
  explicit DecoderSteps(const Watch& watch)
      : bahdanau_(translating("bahdanau", RnnForm::bahdanau, RnnAttention::additive), watch),
        luong_(translating("luong", RnnForm::luong, RnnAttention::general), watch) {
    Rng random(78);
    constexpr int tests = 40;
    for (int i = 0; i < tests; ++i) {
      const LinePair line = random_phrase(random);
      bahdanau_right_ += bahdanau_.right(line) / tests;
      luong_right_ += luong_.right(line) / tests;
    }
  }

  [[nodiscard]] nlohmann::json facts() const override {
    return {{"bahdanau", rounded(bahdanau_right_)},
            {"luong", rounded(luong_right_)},
            {"weights", {bahdanau_.weights(), luong_.weights()}},
            {"seconds", rounded(bahdanau_.seconds() + luong_.seconds())}};
  }

  [[nodiscard]] nlohmann::json ask(const nlohmann::json& question) const override {
    const std::string line = text_of(question);
    const std::string form = text_of(question, "form");
    if (form != "bahdanau" && form != "luong") {
      throw UsageError("form", fmt::format("\"{}\" is not one of bahdanau, luong", form));
    }
    check_words(static_cast<std::int64_t>(words_between_spaces(line).size()));
    const Inspector inspector((form == "luong" ? luong_ : bahdanau_).translator());
    return step_numbers(inspector.run(line, {.beam = 1}));
  }

  [[nodiscard]] std::vector<nlohmann::json> examples() const override {
    std::vector<nlohmann::json> all;
    for (const char* line :
         {"the black cat sees a red car", "a white house loves the green fish", "the dog finds a flower"}) {
      for (const char* form : {"bahdanau", "luong"}) all.push_back({{"text", line}, {"form", form}});
    }
    return all;
  }

 private:
  ToyTranslator bahdanau_, luong_;
  double bahdanau_right_ = 0, luong_right_ = 0;
};

}  // namespace

std::unique_ptr<LiveLesson> train_decoder_steps(const Watch& watch) {
  return std::make_unique<DecoderSteps>(watch);
}

}  // namespace fovea::learning
