#include "text/recall.hpp"

#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "fovea/error.hpp"
#include "text/unicode.hpp"

namespace fovea::text {
namespace {

using Lines = std::vector<std::string>;

// c is S before e, else K; x is K S; e that ends a word is not heard.
const Lines kWords{"c a t", "c e n t", "a c e", "c a n",   "f a x",  "a x e",
                   "n e t", "c a n e", "t a x", "f a c e", "c a f e"};
const Lines kSounds{"K A T", "S E N T", "A S",     "K A N", "F A K S", "A K S",
                    "N E T", "K A N",   "T A K S", "F A S", "K A F E"};

TEST(Recall, EachTokenIsToldWhatItStandsFor) {
  Recall memory(kWords, kSounds, {.least = 1});
  const auto first = [&](const std::string& line) {
    std::string out;
    for (const auto& guess : memory.guess(line)) (out += out.empty() ? "" : " ") += guess.first;
    return out;
  };
  EXPECT_EQ(first("c a x"), "K A K_S");
  EXPECT_EQ(first("n a c e"), "N A S -");
  EXPECT_EQ(first("c e"), "S -");
  EXPECT_EQ(first(""), "");
  // A token that was never seen is not told anything, and does not keep the others from it.
  EXPECT_EQ(first("c 7 t"), "K  T");
  EXPECT_EQ(memory.remind("c 7 t").find("c:K"), 0U);
}

TEST(Recall, DoubtIsTold) {
  // a stands for 1 nine times in ten, for 2 else; b for 1 or 2 as often.
  Lines words;
  Lines sounds;
  for (int i = 0; i < 100; ++i) {
    words.push_back("a b");
    sounds.push_back(std::string(i % 10 == 0 ? "2" : "1") + (i % 2 == 0 ? " 1" : " 2"));
  }
  words.push_back("b a");
  sounds.push_back("1 1");
  Recall memory(words, sounds, {.order = 1, .least = 1});
  const auto guesses = memory.guess("a");
  ASSERT_EQ(guesses.size(), 1U);
  EXPECT_EQ(guesses[0].first, "1");
  EXPECT_EQ(guesses[0].second, "2");
  EXPECT_GT(guesses[0].share, 0.8);
  EXPECT_LT(guesses[0].share, 0.95);
  EXPECT_EQ(memory.remind("a"), "a:1?2");
  EXPECT_EQ(memory.remind(" b\ta "), memory.guess("b a")[0].first == "1" ? "b:1??2 a:1?2" : "b:2??1 a:1?2");
  // What was seen too seldom is not told: a as 2 stood there ten times.
  Recall shy(words, sounds, {.order = 1, .least = 11});
  EXPECT_EQ(shy.remind("a"), "a:1?");
  Recall silent(words, sounds, {.order = 1, .least = 1000});
  EXPECT_EQ(silent.remind("a b"), "a b");
}

// Every line stands alike, token for token, so the alignment is the same with a line or without it.
TEST(Recall, ALineIsToldWhatTheOthersSayOfIt) {
  Rng rng(5);
  Lines words;
  Lines sounds;
  const auto say = [&](const std::string& word) {
    std::string sound;
    for (const char c : word) sound += c == ' ' ? ' ' : c == 'd' ? (rng.below(2) == 0 ? '1' : '2') : c;
    return sound;
  };
  for (int i = 0; i < 120; ++i) {
    std::string word;
    for (std::uint64_t n = 2 + rng.below(4); n > 0; --n) (word += word.empty() ? "" : " ") += "abcd"[rng.below(4)];
    words.push_back(word);
    sounds.push_back(say(word));
  }
  Recall all(words, sounds, {.least = 1});
  for (const std::size_t left_out : {0U, 17U, 60U, 119U}) {
    Lines fewer_words;
    Lines fewer_sounds;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == words[left_out]) continue;
      fewer_words.push_back(words[i]);
      fewer_sounds.push_back(sounds[i]);
    }
    Recall without(fewer_words, fewer_sounds, {.least = 1});
    const auto a = all.guess(words[left_out]);
    const auto b = without.guess(words[left_out]);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].first, b[i].first);
      EXPECT_NEAR(a[i].share, b[i].share, 1e-9);
    }
  }
  // Asking changes nothing.
  Recall fresh(words, sounds, {.least = 1});
  for (const auto& word : words) EXPECT_EQ(all.remind(word), fresh.remind(word));
}

TEST(Recall, WhatCannotBeRememberedIsLeftOut) {
  EXPECT_THROW(Recall(Lines{"a"}, Lines{}), UsageError);
  EXPECT_THROW(Recall(Lines{}, Lines{}, {.order = 13}), UsageError);
  EXPECT_THROW(Recall(Lines{}, Lines{}, {.order = 0}), UsageError);
  EXPECT_THROW(Recall(Lines{}, Lines{}, {.beam = 0}), UsageError);
  EXPECT_EQ(Recall(Lines{}, Lines{}).remind("a b"), "a b");
  // No tokens on a side, or more than two for one.
  EXPECT_EQ(Recall(Lines{"", "a", "b"}, Lines{"1", "", "1 2 3"}, {.least = 1}).remind("a b"), "a b");
}

}  // namespace
}  // namespace fovea::text
