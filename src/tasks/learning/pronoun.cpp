// Self-attention that resolves a pronoun: a model that predicts which word 它 (it) refers to.
#include <algorithm>
#include <numeric>

#include "fovea/text.hpp"
#include "tasks/learning/answers.hpp"
#include "tasks/learning/live_lesson.hpp"
#include "tasks/learning/tagger.hpp"
#include "tasks/learning/toy_texts.hpp"

namespace fovea::learning {
namespace {

constexpr const char* kPronoun = "它";
constexpr int kLayers = 2;  // one reads what the sentence says about 它, one finds the word that fits
// Every seed learns the task. With this one, 它 attends to the word that it refers to in the second layer; with others
// the layers share the work differently.
constexpr std::uint64_t kPronounSeed = 10;
constexpr std::size_t kGuesses = 4;

class Pronoun final : public LiveLesson {
 public:
  explicit Pronoun(const Watch& watch)
      : tokenizer_(train_tokenizer(all_pronoun_sentences(), {.kind = TokenizerKind::word}).tokenizer),
        pronoun_(tokenizer_->encode(kPronoun).at(0)),
        tagger_(
            {
                .name = "self-attention",
                .encoder = {.layers = kLayers, .dim = 16, .ffn = 32, .heads = 1},
                .vocabulary = tokenizer_->size(),
                .labels = tokenizer_->size(),
                .line = [this](Rng& random) { return tagged(random_pronoun_sentence(random)); },
                .steps = 300,
                .rate = 0.01F,
                .weight_decay = 0.3F,
                .label_smoothing = 0.2F,
                .seed = kPronounSeed,
            },
            watch) {}

  [[nodiscard]] nlohmann::json facts() const override {
    return {{"right", rounded(tagger_.right())}, {"seconds", rounded(tagger_.seconds())}};
  }

  [[nodiscard]] nlohmann::json ask(const nlohmann::json& question) const override {
    std::vector<std::int32_t> ids;
    std::vector<std::string> words;
    tokenizer_->encode(text_of(question), ids, &words);
    check_words(static_cast<std::int64_t>(ids.size()));
    const Tagger::Run run = tagger_.run(ids);
    nlohmann::json answer = {{"words", words}, {"layers", nlohmann::json::array()}};
    for (int layer = 0; layer < kLayers; ++layer) {
      nlohmann::json numbers;
      for (const char* name : {"query", "key", "value", "scores", "weights", "context"}) {
        numbers[name] = rows_of(run.trace.at("encoder." + std::to_string(layer) + ".self." + name));
      }
      answer["layers"].push_back(std::move(numbers));
    }
    const auto at = std::find(ids.begin(), ids.end(), pronoun_);
    if (at != ids.end()) answer["guesses"] = guesses(run.probs, at - ids.begin());
    return answer;
  }

  [[nodiscard]] std::vector<nlohmann::json> examples() const override {
    std::vector<nlohmann::json> all;
    for (const char* line : {"看小猫，它好可爱", "小猫在桌子旁边，它好可爱", "小猫在桌子旁边，它好结实",
                             "苹果在小狗旁边，它好聪明", "苹果在小狗旁边，它好新鲜"}) {
      all.push_back({{"text", line}});
    }
    return all;
  }

 private:
  // The label of 它 is the word that it refers to.
  [[nodiscard]] TaggedLine tagged(const PronounSentence& sentence) const {
    TaggedLine line;
    line.ids = tokenizer_->encode(sentence.text);
    const std::int32_t meant = tokenizer_->encode(sentence.meant).at(0);
    for (const std::int32_t id : line.ids) line.labels.push_back(id == pronoun_ ? meant : 0);
    return line;
  }

  [[nodiscard]] nlohmann::json guesses(const Tensor& probs, std::int64_t position) const {
    const float* row = probs.data() + position * probs.dim(1);
    std::vector<std::int32_t> order(static_cast<std::size_t>(probs.dim(1)));
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + kGuesses, order.end(),
                      [row](std::int32_t a, std::int32_t b) { return row[a] > row[b]; });
    auto list = nlohmann::json::array();
    for (std::size_t i = 0; i < kGuesses; ++i) {
      list.push_back({{"text", tokenizer_->piece(order[i])}, {"p", rounded(row[order[i]])}});
    }
    return list;
  }

  std::shared_ptr<const Tokenizer> tokenizer_;
  std::int32_t pronoun_;
  Tagger tagger_;
};

}  // namespace

std::unique_ptr<LiveLesson> train_pronoun(const Watch& watch) {
  return std::make_unique<Pronoun>(watch);
}

}  // namespace fovea::learning
