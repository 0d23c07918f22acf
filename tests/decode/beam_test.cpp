// What the beam finds, and how it ranks what it found.
#include <gtest/gtest.h>

#include <cmath>

#include "support/scripted_stepper.hpp"

namespace fovea {
namespace {

using test::hypotheses;
using test::Script;
using test::Written;

// The likeliest first token leads to nothing likely.
Script garden_path() {
  return {.next = {{{}, {{4, 0.6}, {5, 0.4}}},
                   {{4}, {{6, 0.4}, {7, 0.3}, {eos_id, 0.3}}},
                   {{5}, {{eos_id, 0.95}, {6, 0.05}}}}};
}

// 4 ends after two steps with 0.54, 5 6 7 after four with 0.4, and 4 6 after three with 0.06.
Script short_or_long() {
  return {.next = {{{}, {{4, 0.6}, {5, 0.4}}}, {{4}, {{eos_id, 0.9}, {6, 0.1}}}, {{5}, {{6, 1}}}, {{5, 6}, {{7, 1}}}}};
}

TEST(Beam, FindsWhatGreedyMisses) {
  const auto greedy = hypotheses(garden_path(), {.beam = 1, .length_penalty = 0});
  EXPECT_EQ(greedy[0].tokens, (Written{4, 6}));
  EXPECT_NEAR(greedy[0].log_probability, std::log(0.24), 1e-5);
  const auto wide = hypotheses(garden_path(), {.beam = 2, .length_penalty = 0});
  EXPECT_EQ(wide[0].tokens, (Written{5}));
  EXPECT_NEAR(wide[0].log_probability, std::log(0.38), 1e-5);
}

TEST(Beam, NBestComeInTheirOrder) {
  const auto found = hypotheses(garden_path(), {.beam = 4, .length_penalty = 0, .n_best = 4});
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].tokens, (Written{5}));
  EXPECT_EQ(found[1].tokens, (Written{4, 6}));
  for (const std::size_t i : {2U, 3U}) {  // as likely as each other
    EXPECT_TRUE(found[i].tokens == (Written{4}) || found[i].tokens == (Written{4, 7}));
    EXPECT_NEAR(found[i].log_probability, std::log(0.18), 1e-5);
  }
  EXPECT_NE(found[2].tokens, found[3].tokens);
  EXPECT_EQ(hypotheses(garden_path(), {.beam = 4, .length_penalty = 0, .n_best = 2}).size(), 2U);
}

// The end is among the best of the first step, and both other places of the beam are filled nevertheless.
TEST(Beam, AnEndTakesNoPlaceOfWhatGoesOn) {
  const Script script{
      .next = {{{}, {{eos_id, 0.5}, {4, 0.3}, {5, 0.2}}}, {{4}, {{6, 0.5}, {7, 0.5}}}, {{5}, {{eos_id, 1}}}}};
  const auto found = hypotheses(script, {.beam = 2, .length_penalty = 0, .n_best = 2});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].tokens, Written{});
  EXPECT_EQ(found[1].tokens, (Written{5}));
}

TEST(Beam, LengthPenaltyDividesByTheLengthToItsPower) {
  for (const float penalty : {0.0F, 0.5F, 0.7F, 1.0F, 2.0F}) {
    const auto found = hypotheses(short_or_long(), {.beam = 3, .length_penalty = penalty, .n_best = 3});
    ASSERT_EQ(found.size(), 3U);
    for (const auto& h : found) {
      const double total = h.tokens == Written{4} ? 0.54 : h.tokens == Written{4, 6} ? 0.06 : 0.4;
      EXPECT_NEAR(h.log_probability, std::log(total), 1e-5);
      EXPECT_NEAR(h.score, std::log(total) / std::pow(static_cast<double>(h.tokens.size()) + 1, penalty), 1e-5);
    }
    EXPECT_EQ(found[0].tokens, penalty > 0.6F ? (Written{5, 6, 7}) : (Written{4})) << penalty;
  }
}

// Wu et al. 2016: a source token that received little attention costs.
TEST(Beam, CoveragePenaltyPrefersWhatCoversTheSource) {
  const Script script{.next = {{{}, {{4, 0.6}, {5, 0.4}}}},
                      .attention = {{{}, {0.8F, 0.2F}}, {{4}, {0.9F, 0.1F}}, {{5}, {0.1F, 0.9F}}}};
  for (const float penalty : {0.0F, 0.1F, 0.5F, 1.0F}) {
    const auto found = hypotheses(script, {.beam = 2, .length_penalty = 0, .coverage_penalty = penalty, .n_best = 2});
    ASSERT_EQ(found.size(), 2U);
    // The first token received more than 1 or 0.9, the second 0.3 or more than 1.
    const double four = std::log(0.6) + penalty * std::log(0.3);
    const double five = std::log(0.4) + penalty * std::log(0.9);
    EXPECT_NEAR(found[0].score, std::max(four, five), 1e-5) << penalty;
    EXPECT_NEAR(found[1].score, std::min(four, five), 1e-5) << penalty;
    EXPECT_EQ(found[0].tokens, four > five ? (Written{4}) : (Written{5}));
    EXPECT_EQ(found[0].tokens, penalty < 0.3F ? (Written{4}) : (Written{5}));
  }
}

TEST(Beam, AWiderBeamIsNeverWorse) {
  float before = -INFINITY;
  for (const int beam : {1, 2, 3, 5}) {
    const auto found = hypotheses(garden_path(), {.beam = beam, .length_penalty = 0});
    EXPECT_GE(found[0].score, before);
    before = found[0].score;
  }
}

}  // namespace
}  // namespace fovea
