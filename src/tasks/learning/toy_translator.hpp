// A small encoder-decoder, trained on random lines.
#pragma once

#include <functional>
#include <memory>

#include "fovea/model/config.hpp"
#include "fovea/translator.hpp"
#include "tasks/learning/live_lesson.hpp"
#include "tasks/learning/toy_texts.hpp"

namespace fovea::learning {

struct ToyTraining {
  const char* name = "";  // of the model, as Progress has it
  ModelConfig config{};   // vocabularies are filled in
  LinePair words{};       // lines with every word of both sides
  std::function<LinePair(Rng&)> line{};
  int steps = 300, batch = 32;
  float rate = 0.005F;
  std::uint64_t seed = 1;
};

class ToyTranslator {
 public:
  /// Trains. Throws Stopped.
  ToyTranslator(const ToyTraining& how, const Watch& watch);

  [[nodiscard]] const Translator& translator() const { return *translator_; }
  [[nodiscard]] double seconds() const { return seconds_; }  // of the training
  [[nodiscard]] std::int64_t weights() const { return weights_; }
  /// Share of the target's words that the translation of a line has at the same positions.
  [[nodiscard]] double right(const LinePair& line) const;
  /// How much each state of the encoder changes when one word of the source is replaced: [words, states], relative to
  /// the largest change. The end of sequence is a state too.
  [[nodiscard]] AttentionMatrix reach(const std::string& line) const;

 private:
  ModelConfig config_;
  Tokenizers tokenizers_;
  Parameters parameters_;
  std::unique_ptr<const Translator> translator_;
  double seconds_ = 0;
  std::int64_t weights_ = 0;
};

/// Words of a line that spaces separate.
[[nodiscard]] std::vector<std::string> words_between_spaces(const std::string& line);

}  // namespace fovea::learning
