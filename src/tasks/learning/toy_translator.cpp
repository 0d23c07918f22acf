#include "tasks/learning/toy_translator.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <sstream>

#include "fovea/model/seq2seq.hpp"
#include "fovea/train/adam.hpp"
#include "tasks/learning/answers.hpp"

namespace fovea::learning {

std::vector<std::string> words_between_spaces(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

ToyTranslator::ToyTranslator(const ToyTraining& how, const Watch& watch) : config_(how.config), parameters_(how.seed) {
  const auto began = std::chrono::steady_clock::now();
  const TokenizerOptions words{.kind = TokenizerKind::word};
  tokenizers_ = {train_tokenizer({how.words.first}, words).tokenizer,
                 train_tokenizer({how.words.second}, words).tokenizer};
  config_.tokens().vocabulary = tokenizers_.source->size();
  config_.generator().vocabulary = tokenizers_.target->size();
  const Seq2Seq model(config_, parameters_);
  weights_ = parameters_.count();
  Adam adam(parameters_, {.rate = how.rate, .beta2 = 0.98F, .clip = 1});
  Rng random(how.seed);
  PaddedTokens source, target, wanted;
  for (int step = 0; step < how.steps; ++step) {
    std::vector<std::vector<std::int32_t>> from, to;
    for (int i = 0; i < how.batch; ++i) {
      const LinePair line = how.line(random);
      from.push_back(tokenizers_.source->encode(line.first));
      to.push_back(tokenizers_.target->encode(line.second));
    }
    const auto from_at = [&](std::int64_t r) -> const auto& {
      return from[static_cast<std::size_t>(r)];
    };
    const auto to_at = [&](std::int64_t r) -> const auto& {
      return to[static_cast<std::size_t>(r)];
    };
    source.fill(how.batch, Marks::end, from_at);
    target.fill(how.batch, Marks::begin, to_at);
    wanted.fill(how.batch, Marks::end, to_at);
    Pass pass;
    const BatchLoss cost = model.loss(source.view(), target.view(), wanted.view().ids, {}, pass);
    const auto outputs = static_cast<double>(cost.outputs);
    watch.at({how.name, step + 1, how.steps, cost.nll / outputs});
    backward(scale(cost.loss, static_cast<float>(1 / outputs)));
    // The rate decreases over the last third.
    const double left = std::min(1.0, 3.0 * (how.steps - step) / how.steps);
    adam.step(how.rate * left);
  }
  translator_ = std::make_unique<const Translator>(config_, tokenizers_, parameters_);
  seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

double ToyTranslator::right(const LinePair& line) const {
  const auto words = words_between_spaces(translator_->translate(line.first, {.beam = 1}).text);
  const auto wanted = words_between_spaces(line.second);
  std::size_t same = 0;
  for (std::size_t i = 0; i < std::min(words.size(), wanted.size()); ++i) same += words[i] == wanted[i] ? 1 : 0;
  return static_cast<double>(same) / static_cast<double>(std::max(words.size(), wanted.size()));
}

AttentionMatrix ToyTranslator::reach(const std::string& line) const {
  const NoGrad quiet;
  Parameters weights = parameters_.replica();
  const Seq2Seq model(config_, weights);
  const std::vector<std::int32_t> ids = tokenizers_.source->encode(line);
  const auto words = static_cast<std::int64_t>(ids.size());
  check_words(words);
  // Row 0 is the line itself; row 1 + i has another word at position i.
  const std::int32_t others = tokenizers_.source->size() - special_ids;
  const auto changed = [&](std::int64_t row) {
    std::vector<std::int32_t> out = ids;
    if (row > 0) {
      std::int32_t& id = out[static_cast<std::size_t>(row - 1)];
      id = special_ids + (std::max(id - special_ids, 0) + 1) % others;
    }
    return out;
  };
  PaddedTokens batch;
  batch.fill(words + 1, Marks::end, changed);
  Pass pass;
  const Tensor states = model.encode(batch.view(), pass).states.value().contiguous();
  const std::int64_t length = states.dim(1), width = states.dim(2);
  AttentionMatrix reach{words, length, std::vector<float>(static_cast<std::size_t>(words * length))};
  float most = 0;
  for (std::int64_t i = 0; i < words; ++i) {
    for (std::int64_t j = 0; j < length; ++j) {
      double sum = 0;
      for (std::int64_t d = 0; d < width; ++d) {
        const double apart = states.data()[((i + 1) * length + j) * width + d] - states.data()[j * width + d];
        sum += apart * apart;
      }
      float& cell = reach.values[static_cast<std::size_t>(i * length + j)];
      cell = static_cast<float>(std::sqrt(sum));
      most = std::max(most, cell);
    }
  }
  for (float& cell : reach.values) cell /= std::max(most, 1e-9F);
  return reach;
}

}  // namespace fovea::learning
