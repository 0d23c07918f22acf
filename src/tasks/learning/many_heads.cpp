// One head or several: for each letter of a line the model predicts the previous letter, the next letter and the first
// letter of the line. These are three positions to attend to.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fovea/text.hpp"
#include "tasks/learning/answers.hpp"
#include "tasks/learning/live_lesson.hpp"
#include "tasks/learning/tagger.hpp"
#include "tasks/learning/toy_texts.hpp"
#include "tasks/learning/toy_translator.hpp"

namespace fovea::learning {
namespace {

constexpr int kHeads[] = {1, 2, 4};
constexpr int kFewLetters = 5;
constexpr int kShortestLine = 5, kLongestLine = 10;

class ManyHeads final : public LiveLesson {
 public:
  explicit ManyHeads(const Watch& watch)
      : tokenizer_(train_tokenizer({letters(kFewLetters)}, {.kind = TokenizerKind::word}).tokenizer),
        known_(tokenizer_->size() - special_ids) {
    for (const int heads : kHeads) {
      TaggerTraining how{.name = fmt::format("{} heads", heads),
                         .encoder = {.layers = 1,
                                     .dim = 16,
                                     .ffn = 4,
                                     .heads = heads,
                                     .positions = Positions::learned,
                                     .max_positions = static_cast<int>(kMostWords)},
                         .vocabulary = tokenizer_->size(),
                         .labels = 1 + (known_ + 1) * (known_ + 1) * (known_ + 1)};
      how.line = [this](Rng& random) {
        TaggedLine line;
        line.ids = tokenizer_->encode(random_letters(
            random, kFewLetters, kShortestLine + static_cast<int>(random.below(kLongestLine - kShortestLine + 1))));
        line.labels = labels(line.ids);
        return line;
      };
      how.steps = 300;
      how.rate = 0.01F;
      taggers_.emplace(heads, std::make_unique<const Tagger>(how, watch));
    }
  }

  [[nodiscard]] nlohmann::json facts() const override {
    nlohmann::json json = {{"heads", kHeads}, {"right", nlohmann::json::array()}};
    double seconds = 0;
    for (const int heads : kHeads) {
      json["right"].push_back(rounded(taggers_.at(heads)->right()));
      seconds += taggers_.at(heads)->seconds();
    }
    json["seconds"] = rounded(seconds);
    return json;
  }

  [[nodiscard]] nlohmann::json ask(const nlohmann::json& question) const override {
    const std::string text = text_of(question);
    const int heads = question.value("heads", nlohmann::json(2)).is_number_integer() ? question.value("heads", 2) : 0;
    if (!taggers_.contains(heads)) throw UsageError("heads", "must be 1, 2 or 4");
    const std::vector<std::int32_t> ids = tokenizer_->encode(text);
    check_words(static_cast<std::int64_t>(ids.size()));
    const Tagger::Run run = taggers_.at(heads)->run(ids, silenced(question, heads));
    const Tensor& weights = run.trace.at("encoder.0.self.weights");
    nlohmann::json answer = {{"words", words_between_spaces(text)}, {"maps", nlohmann::json::array()}};
    for (int h = 0; h < heads; ++h) answer["maps"].push_back(rows_of(weights.select(1, h)));
    const std::vector<std::int32_t> wanted = labels(ids);
    auto places = nlohmann::json::array();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const float* row = run.probs.data() + static_cast<std::int64_t>(i) * run.probs.dim(1);
      const auto best = static_cast<std::int32_t>(std::max_element(row, row + run.probs.dim(1)) - row);
      nlohmann::json place;
      for (const auto& [name, part] : {std::pair{"first", 0}, std::pair{"behind", 1}, std::pair{"before", 2}}) {
        place[name] = {{"letter", letter(part_of(best, part))},
                       {"right", part_of(best, part) == part_of(wanted[i], part)}};
      }
      places.push_back(std::move(place));
    }
    answer["places"] = places;
    return answer;
  }

  [[nodiscard]] std::vector<nlohmann::json> examples() const override {
    std::vector<nlohmann::json> all;
    for (const char* line : {"a b c d e a", "d c a e b d"}) {
      for (const int heads : kHeads) {
        for (int which = 0; which < 1 << heads; ++which) {
          auto silent = nlohmann::json::array();
          for (int h = 0; h < heads; ++h) {
            if ((which >> h & 1) != 0) silent.push_back(h);
          }
          all.push_back({{"text", line}, {"heads", heads}, {"silent", silent}});
        }
      }
    }
    return all;
  }

 private:
  // The letter of a token, counted from 1; 0 for anything else, such as the edge of the line.
  [[nodiscard]] std::int32_t number(std::int32_t id) const { return std::max(id - special_ids + 1, 0); }
  [[nodiscard]] std::string letter(std::int32_t number) const {
    return number <= 0 ? "" : tokenizer_->piece(number - 1 + special_ids);
  }
  [[nodiscard]] std::vector<std::int32_t> labels(const std::vector<std::int32_t>& ids) const {
    std::vector<std::int32_t> all;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::int32_t before = i == 0 ? 0 : number(ids[i - 1]);
      const std::int32_t behind = i + 1 == ids.size() ? 0 : number(ids[i + 1]);
      all.push_back(1 + (before * (known_ + 1) + behind) * (known_ + 1) + number(ids[0]));
    }
    return all;
  }
  // The previous (2), next (1) or first (0) letter of a label, as number() gives it.
  [[nodiscard]] std::int32_t part_of(std::int32_t label, int part) const {
    std::int32_t rest = std::max(label - 1, 0);
    for (int i = 0; i < part; ++i) rest /= known_ + 1;
    return rest % (known_ + 1);
  }
  [[nodiscard]] static Interventions silenced(const nlohmann::json& question, int heads) {
    Interventions changes;
    const auto silent = question.value("silent", nlohmann::json::array());
    if (!silent.is_array() || silent.size() > static_cast<std::size_t>(heads)) {
      throw UsageError("silent: must be a list of heads, counted from 0");
    }
    for (const auto& head : silent) {
      if (!head.is_number_integer() || head.get<int>() < 0 || head.get<int>() >= heads) {
        throw UsageError(fmt::format("silent: must be heads from 0 to {}", heads - 1));
      }
      changes.attention.push_back(
          {.what = AttentionEdit::What::silence, .kind = AttentionKind::encoder, .head = head.get<int>()});
    }
    return changes;
  }

  std::shared_ptr<const Tokenizer> tokenizer_;
  std::int32_t known_;  // letters
  std::map<int, std::unique_ptr<const Tagger>> taggers_;
};

}  // namespace

std::unique_ptr<LiveLesson> train_many_heads(const Watch& watch) {
  return std::make_unique<ManyHeads>(watch);
}

}  // namespace fovea::learning
