// Why one vector is not enough: two RNNs that repeat a line of letters, one of them with attention.
#include "fovea/translator.hpp"
#include "tasks/learning/answers.hpp"
#include "tasks/learning/live_lesson.hpp"
#include "tasks/learning/toy_translator.hpp"

namespace fovea::learning {
namespace {

constexpr int kAlphabet = 10;
constexpr int kShortest = 2, kLongest = 14;  // letters of a line
constexpr int kTestsOfALength = 12;

LinePair line_to_repeat(Rng& random) {
  const std::string line =
      random_letters(random, kAlphabet, kShortest + static_cast<int>(random.below(kLongest - kShortest + 1)));
  return {line, line};
}

ToyTraining repeating(const char* name, RnnAttention attention) {
  ToyTraining how{.name = name,
                  .words = {letters(kAlphabet), letters(kAlphabet)},
                  .line = line_to_repeat,
                  .steps = 400,
                  .rate = 0.01F};
  how.config.encoder = RnnEncoderConfig{.dim = 24};
  how.config.tokens().embedding = 16;
  how.config.generator() = {.decoder = RnnDecoderConfig{.dim = 48, .attention = attention}, .embedding = 16};
  return how;
}

class FixedVector final : public LiveLesson {
 public:
  explicit FixedVector(const Watch& watch)
      : plain_(repeating("plain", RnnAttention::none), watch),
        attention_(repeating("attention", RnnAttention::additive), watch) {
    Rng random(77);
    for (int length = kShortest; length <= kLongest; ++length) {
      double plain = 0, attention = 0;
      for (int i = 0; i < kTestsOfALength; ++i) {
        const std::string line = random_letters(random, kAlphabet, length);
        if (i == 0) examples_.push_back(line);
        plain += plain_.right({line, line});
        attention += attention_.right({line, line});
      }
      lengths_.push_back(length);
      plain_right_.push_back(rounded(plain / kTestsOfALength));
      attention_right_.push_back(rounded(attention / kTestsOfALength));
    }
  }

  [[nodiscard]] nlohmann::json facts() const override {
    return {{"lengths", lengths_},
            {"plain", plain_right_},
            {"attention", attention_right_},
            {"weights", {plain_.weights(), attention_.weights()}},
            {"seconds", rounded(plain_.seconds() + attention_.seconds())}};
  }

  [[nodiscard]] nlohmann::json ask(const nlohmann::json& question) const override {
    const std::string line = text_of(question);
    check_words(static_cast<std::int64_t>(words_between_spaces(line).size()));
    const Generated with = attention_.translator().translate(line, {.beam = 1, .attention = true});
    return {{"plain", plain_.translator().translate(line, {.beam = 1}).text},
            {"attention", with.text},
            {"source", with.attention.source},
            {"target", with.attention.target},
            {"weights", rows_of(with.attention.weights)}};
  }

  [[nodiscard]] std::vector<nlohmann::json> examples() const override {
    std::vector<nlohmann::json> all;
    for (const std::string& line : examples_) all.push_back({{"text", line}});
    return all;
  }

 private:
  ToyTranslator plain_, attention_;
  std::vector<int> lengths_;
  std::vector<double> plain_right_, attention_right_;
  std::vector<std::string> examples_;
};

}  // namespace

std::unique_ptr<LiveLesson> train_fixed_vector(const Watch& watch) {
  return std::make_unique<FixedVector>(watch);
}

}  // namespace fovea::learning
