#include "text/joint_ngram/joint_ngram_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fovea/error.hpp"

namespace fovea::text {
namespace {

using Lines = std::vector<std::string>;
constexpr double kNever = -std::numeric_limits<double>::infinity();

// c is S before e, else K; x is K S; e that ends a word is not heard.
const Lines kWords{"c a t", "c e n t", "a c e", "c a n", "f a x", "a x e", "n e t", "c a n e", "t a x", "f a c e"};
const Lines kSounds{"K A T", "S E N T", "A S", "K A N", "F A K S", "A K S", "N E T", "K A N", "T A K S", "F A S"};

TEST(JointNgramModel, WhatSoundsLikeTheRestIsLikelier) {
  const JointNgramModel memory(kWords, kSounds);
  const auto likelier = [&](const std::string& word, const std::string& sound, const std::string& than) {
    EXPECT_GT(memory.log_probability(word, sound), memory.log_probability(word, than)) << word;
  };
  likelier("c a x", "K A K S", "S A K S");
  likelier("c a x", "K A K S", "K A S");
  likelier("n a c e", "N A S", "N A K");
  likelier("n a c e", "N A S", "N A S E");
  likelier("c e t", "S E T", "K E T");
}

// With runs of one unit a pair's probability is the product of its units', and those can be counted by hand.
TEST(JointNgramModel, OneUnitAtATimeIsCounting) {
  const Lines words{"a", "a", "a b", "b a", "b"};
  const Lines sounds{"1", "2", "1 3", "3 1", "3"};
  const JointNgramModel memory(words, sounds, {.order = 1, .beam = 100});
  // Four a, of which one is 2; three b; five ends: 12 in all. Each count is discounted by 0.8, and what that leaves,
  // 4 * 0.8 / 12, is spread over the 5 units there are, the beginning among them.
  const double spread = 4 * 0.8 / 12 / 5;
  const double a_as_1 = (3 - 0.8) / 12 + spread;
  const double a_as_2 = (1 - 0.8) / 12 + spread;
  const double b_as_3 = (3 - 0.8) / 12 + spread;
  const double end = (5 - 0.8) / 12 + spread;
  const double unknown = spread;
  EXPECT_NEAR(memory.log_probability("a", "1"), std::log((a_as_1 + unknown) * end), 1e-9);
  EXPECT_NEAR(memory.log_probability("a", "2"), std::log((a_as_2 + unknown) * end), 1e-9);
  EXPECT_NEAR(memory.log_probability(" a\tb ", "1 3"),
              std::log(((a_as_1 + unknown) * (b_as_3 + unknown) + 2 * unknown * unknown) * end), 1e-9);
  // What was never seen, on either side, can only be unknown.
  EXPECT_NEAR(memory.log_probability("a", "3"), std::log(unknown * end), 1e-9);
  EXPECT_NEAR(memory.log_probability("a", "7"), std::log(unknown * end), 1e-9);
  EXPECT_NEAR(memory.log_probability("z", "1"), std::log(unknown * end), 1e-9);
}

// All ways to read a pair, one after another: letter k is unit k + 2, which stands for sound k, or unknown (-1), which
// stands for whatever comes, up to two of it.
double every_reading(const Ngrams& ngrams, std::size_t units, const Ids& word, const Ids& sound, const Ids& read,
                     std::size_t taken) {
  const Ngrams::Context context(ngrams, read);
  const std::size_t i = read.size() - 1;
  if (i == word.size()) return taken == sound.size() ? context.probability(1, units) : 0;
  double sum = 0;
  const auto go_on = [&](std::int32_t unit, std::size_t n) {
    Ids longer = read;
    longer.push_back(unit);
    sum += context.probability(unit, units) * every_reading(ngrams, units, word, sound, longer, taken + n);
  };
  if (taken < sound.size() && sound[taken] == word[i]) go_on(word[i] + 2, 1);
  for (std::size_t n = 0; n <= 2 && taken + n <= sound.size(); ++n) go_on(-1, n);
  return sum;
}

TEST(JointNgramModel, IsTheSumOverAllReadings) {
  const std::vector<Ids> words{{0, 1, 2, 3}, {1, 2, 3, 0, 1, 2}, {3, 2, 1, 0}, {0, 1, 2, 0, 1}, {2, 3}, {1, 2, 3}};
  const auto spelled = [](const Ids& ids, char first) {
    std::string line;
    for (const std::int32_t id : ids) line += {static_cast<char>(first + id), ' '};
    return line;
  };
  for (const std::size_t order : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{5}}) {
    SCOPED_TRACE(order);
    Ngrams ngrams(order);
    Lines letters;
    Lines sounds;
    for (const Ids& word : words) {
      Ids units{0};
      for (const std::int32_t id : word) units.push_back(id + 2);
      units.push_back(1);
      ngrams.remember(units);
      letters.push_back(spelled(word, 'a'));
      sounds.push_back(spelled(word, 'A'));
    }
    const JointNgramModel memory(letters, sounds, {.order = order, .beam = 100'000});
    const JointNgramModel narrow(letters, sounds, {.order = order, .beam = 1});
    ASSERT_EQ(memory.aligned(), words.size());
    const std::vector<std::pair<Ids, Ids>> asked{{{1, 2, 3, 0, 1, 2}, {1, 2, 3, 0, 1, 2}},
                                                 {{0, 1, 2, 3, 0, 1, 2}, {0, 1, 2, 3, 0, 1, 2}},
                                                 {{3, 2, 3, 2}, {3, 2, 3}},
                                                 {{2, 3}, {3, 2, 2}}};
    for (const auto& [word, sound] : asked) {
      const double sum = every_reading(ngrams, 6, word, sound, {0}, 0);
      const std::string letter_line = spelled(word, 'a');
      const std::string sound_line = spelled(sound, 'A');
      // Readings e^12 times less likely than the best are not followed.
      EXPECT_NEAR(memory.log_probability(letter_line, sound_line), std::log(sum), 5e-3) << letter_line;
      EXPECT_LE(narrow.log_probability(letter_line, sound_line), std::log(sum) + 1e-9) << letter_line;
    }
  }
}

TEST(JointNgramModel, WhatCannotBeReadIsImpossibleNotAnError) {
  const JointNgramModel memory(kWords, kSounds);
  EXPECT_EQ(memory.log_probability("c a", "K A K A K"), kNever);
  EXPECT_GT(memory.log_probability("c a", "K A K A"), kNever);
  EXPECT_EQ(memory.log_probability("", "K"), kNever);
  EXPECT_EQ(memory.log_probability("c", " "), kNever);
  // A line of more tokens than are ever remembered can still be read.
  std::string line;
  std::string sound;
  for (int i = 0; i < 1500; ++i) {
    line += "c a ";
    sound += "K A ";
  }
  EXPECT_GT(memory.log_probability(line, sound), kNever);
}

TEST(JointNgramModel, WhatCannotBeRememberedIsLeftOut) {
  EXPECT_THROW(JointNgramModel(Lines{"a"}, Lines{}), UsageError);
  EXPECT_THROW(JointNgramModel(Lines{}, Lines{}, {.order = 13}), UsageError);
  EXPECT_THROW(JointNgramModel(Lines{}, Lines{}, {.order = 0}), UsageError);
  EXPECT_THROW(JointNgramModel(Lines{}, Lines{}, {.beam = 0}), UsageError);
  // Nothing is known then, and everything equally likely.
  const JointNgramModel nothing(Lines{"", "a", "b"}, Lines{"1", "", "1 2 3"});
  EXPECT_NEAR(nothing.log_probability("a", "1"), nothing.log_probability("b", "2"), 1e-12);
  EXPECT_EQ(nothing.aligned(), 0U);
  EXPECT_EQ(JointNgramModel(kWords, kSounds).aligned(), kWords.size());
  EXPECT_GT(JointNgramModel(Lines{}, Lines{}).log_probability("a", "1"), kNever);
}

}  // namespace
}  // namespace fovea::text
