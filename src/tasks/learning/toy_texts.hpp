// Random texts that the course trains its models on.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/rng.hpp"

namespace fovea::learning {

using LinePair = std::pair<std::string, std::string>;  // source and target

/// The first `count` letters with spaces between them.
[[nodiscard]] std::string letters(int count);
/// A line of `length` of them.
[[nodiscard]] std::string random_letters(Rng& random, int count, int length);

/// "the black cat sees a red car" and "le chat noir voit une voiture rouge": adjectives move behind their noun, and
/// articles and adjectives agree with its gender.
[[nodiscard]] LinePair random_phrase(Rng& random);
/// Lines that hold every word of both languages.
[[nodiscard]] LinePair all_phrase_words();

/// A sentence with 它 (it), and the word that it refers to.
struct PronounSentence {
  std::string text, meant;
};
/// 看小猫，它好可爱; or with two things, only one matching the adjective: 小猫在桌子旁边，它好可爱.
[[nodiscard]] PronounSentence random_pronoun_sentence(Rng& random);
/// Lines that hold every word.
[[nodiscard]] std::vector<std::string> all_pronoun_sentences();

}  // namespace fovea::learning
