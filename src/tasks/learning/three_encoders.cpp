// RNN, CNN and Transformer as the encoder of the same small translation.
#include <map>

#include "tasks/learning/answers.hpp"
#include "tasks/learning/live_lesson.hpp"
#include "tasks/learning/toy_translator.hpp"

namespace fovea::learning {
namespace {

constexpr int kWidth = 24;
constexpr int kPositions = 32;  // more than the words of the longest text

ToyTraining encoding(const char* name, const EncoderConfig& encoder) {
  ToyTraining how{.name = name, .words = all_phrase_words(), .line = random_phrase, .steps = 250, .rate = 0.01F};
  how.config.encoder = encoder;
  how.config.tokens().embedding = kWidth;
  how.config.generator() = {.decoder = RnnDecoderConfig{.dim = kWidth}, .embedding = kWidth};
  return how;
}

class ThreeEncoders final : public LiveLesson {
 public:
  explicit ThreeEncoders(const Watch& watch)
      : rnn_(encoding("rnn", RnnEncoderConfig{.dim = kWidth / 2}), watch),
        // One convolution of three words, so that its window is visible.
        cnn_(encoding("cnn", CnnConfig{.layers = 1, .dim = kWidth, .kernel = 3, .max_positions = kPositions}), watch),
        transformer_(
            encoding("transformer", TransformerConfig{.layers = 1, .dim = kWidth, .ffn = 2 * kWidth, .heads = 2}),
            watch) {
    Rng random(79);
    constexpr int tests = 40;
    for (int i = 0; i < tests; ++i) {
      const LinePair line = random_phrase(random);
      for (const auto& [name, one] : all()) right_[name] += one->right(line) / tests;
    }
  }

  [[nodiscard]] nlohmann::json facts() const override {
    nlohmann::json json;
    double seconds = 0;
    for (const auto& [name, one] : all()) {
      json["right"][name] = rounded(right_.at(name));
      json["each"][name] = rounded(one->seconds());
      json["weights"][name] = one->weights();
      seconds += one->seconds();
    }
    json["seconds"] = rounded(seconds);
    return json;
  }

  [[nodiscard]] nlohmann::json ask(const nlohmann::json& question) const override {
    const std::string line = text_of(question);
    check_words(static_cast<std::int64_t>(words_between_spaces(line).size()));
    nlohmann::json answer;
    for (const auto& [name, one] : all()) {
      const Generated translated = one->translator().translate(line, {.beam = 1});
      answer["words"] = translated.attention.source;
      answer["models"][name] = {{"text", translated.text}, {"reach", rows_of(one->reach(line))}};
    }
    return answer;
  }

  [[nodiscard]] std::vector<nlohmann::json> examples() const override {
    return {{{"text", "the black cat sees a red car"}}, {{"text", "a white house loves the green fish"}}};
  }

 private:
  [[nodiscard]] std::vector<std::pair<std::string, const ToyTranslator*>> all() const {
    return {{"rnn", &rnn_}, {"cnn", &cnn_}, {"transformer", &transformer_}};
  }

  ToyTranslator rnn_, cnn_, transformer_;
  std::map<std::string, double> right_;
};

}  // namespace

std::unique_ptr<LiveLesson> train_three_encoders(const Watch& watch) {
  return std::make_unique<ThreeEncoders>(watch);
}

}  // namespace fovea::learning
