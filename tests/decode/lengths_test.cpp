// How long an output may be, and what it may not hold twice.
#include <gtest/gtest.h>

#include "support/scripted_stepper.hpp"

namespace fovea {
namespace {

using test::hypotheses;
using test::Script;
using test::Written;

// The same everywhere: {-1} stands for every beginning.
const Script kEager{.next = {{{-1}, {{eos_id, 0.9}, {4, 0.07}, {5, 0.03}}}}};
const Script kEndless{.next = {{{-1}, {{4, 0.7}, {5, 0.2}, {6, 0.08}, {eos_id, 0.02}}}}};

TEST(Lengths, MinLengthIsTheFewestTokensBeforeTheEnd) {
  for (const int beam : {1, 3}) {
    EXPECT_EQ(hypotheses(kEager, {.beam = beam})[0].tokens.size(), 0U);
    for (const int least : {1, 2, 5}) {
      EXPECT_EQ(hypotheses(kEager, {.beam = beam, .length_penalty = 0, .min_length = least})[0].tokens.size(),
                static_cast<std::size_t>(least));
    }
  }
}

TEST(Lengths, MaxLengthIsTheMostTokensBeforeTheEnd) {
  for (const int most : {1, 2, 7}) {
    EXPECT_EQ(hypotheses(kEndless, {.beam = 1, .max_length = most})[0].tokens.size(), static_cast<std::size_t>(most));
  }
}

TEST(Lengths, WithoutMaxLengthItIsTwiceTheSourceAndTwentyOrMinLength) {
  EXPECT_EQ(hypotheses(kEndless, {.beam = 1})[0].tokens.size(), 24U);
  EXPECT_EQ(hypotheses(kEndless, {.beam = 1, .min_length = 20})[0].tokens.size(), 24U);
  EXPECT_EQ(hypotheses(kEndless, {.beam = 1, .min_length = 30})[0].tokens.size(), 30U);
}

TEST(Lengths, LongestLimitsWhateverElseIsAskedFor) {
  EXPECT_EQ(hypotheses(kEndless, {.beam = 1}, {.longest = 5})[0].tokens.size(), 5U);
  EXPECT_EQ(hypotheses(kEndless, {.beam = 1, .max_length = 3}, {.longest = 5})[0].tokens.size(), 3U);
  EXPECT_EQ(hypotheses(kEager, {.beam = 1, .min_length = 9}, {.longest = 5})[0].tokens.size(), 5U);
}

TEST(Lengths, NoRepeatNgramForbidsExactlyTheNgramsThatAreThere) {
  const auto written = [](int n) {
    return hypotheses(kEndless, {.beam = 1, .max_length = 6, .no_repeat_ngram = n})[0].tokens;
  };
  EXPECT_EQ(written(0), (Written{4, 4, 4, 4, 4, 4}));
  EXPECT_EQ(written(1), (Written{4, 5, 6}));
  EXPECT_EQ(written(2), (Written{4, 4, 5, 4, 6, 4}));
  EXPECT_EQ(written(3), (Written{4, 4, 4, 5, 4, 4}));
}

TEST(Lengths, ARepetitionPenaltyMakesTokensOfTheOutputLessProbable) {
  const auto written = [](float penalty) {
    return hypotheses(kEndless, {.beam = 1, .max_length = 3, .repetition_penalty = penalty})[0].tokens;
  };
  EXPECT_EQ(written(1), (Written{4, 4, 4}));
  EXPECT_EQ(written(100), (Written{4, 5, 6}));
}

TEST(Lengths, AnOutputStartsWithItsPrefix) {
  const Written prefix{7, 6};
  const SearchInput input{.source_length = 2, .prefix = prefix};
  for (const GenerateOptions& how :
       {GenerateOptions{.beam = 1, .max_length = 4}, GenerateOptions{.beam = 3, .max_length = 4},
        GenerateOptions{.max_length = 4, .sample = true}}) {
    test::ScriptedStepper stepper(kEndless);
    const auto found = search(stepper, {&input, 1}, how)[0][0].tokens;
    ASSERT_GE(found.size(), 2U);
    EXPECT_EQ((Written{found[0], found[1]}), prefix);
  }
}

}  // namespace
}  // namespace fovea
