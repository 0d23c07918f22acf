// From which distribution tokens are drawn.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "support/scripted_stepper.hpp"

namespace fovea {
namespace {

using test::Script;
using test::ScriptedStepper;

using Shares = std::map<std::int32_t, double>;

const Script kFour{.next = {{{}, {{4, 0.5}, {5, 0.3}, {6, 0.15}, {7, 0.05}}}}};

std::vector<Hypothesis> lines(GenerateOptions how, std::size_t count, std::uint64_t first_line = 0) {
  how.sample = true;
  how.max_length = 3;
  ScriptedStepper stepper(kFour, count);
  std::vector<SearchInput> inputs;
  for (std::size_t i = 0; i < count; ++i) inputs.push_back({.source_length = 2, .line = first_line + i});
  std::vector<Hypothesis> out;
  for (auto& found : search(stepper, inputs, how)) out.push_back(found.at(0));
  return out;
}

// The share of each first token among 4,000 lines.
Shares drawn(const GenerateOptions& how) {
  constexpr std::size_t kLines = 4000;
  Shares shares;
  for (const Hypothesis& h : lines(how, kLines)) shares[h.tokens.at(0)] += 1.0 / kLines;
  return shares;
}

void expect_shares(const Shares& found, const Shares& wanted) {
  for (const auto& [token, share] : found) EXPECT_TRUE(wanted.contains(token)) << token << " was drawn";
  for (const auto& [token, share] : wanted) {
    ASSERT_TRUE(found.contains(token)) << token << " was never drawn";
    EXPECT_NEAR(found.at(token), share, 0.03) << token;
  }
}

// p^(1 / temperature) of the tokens given, so that they sum to 1.
Shares tempered(const Shares& p, double temperature) {
  Shares out;
  double sum = 0;
  for (const auto& [token, share] : p) sum += out[token] = std::pow(share, 1 / temperature);
  for (auto& [token, share] : out) share /= sum;
  return out;
}

const Shares kAll{{4, 0.5}, {5, 0.3}, {6, 0.15}, {7, 0.05}};

TEST(Sampling, FollowsTheProbabilities) {
  expect_shares(drawn({}), kAll);
}

TEST(Sampling, TemperatureFlattensOrSharpens) {
  for (const float temperature : {0.5F, 2.0F, 5.0F}) {
    expect_shares(drawn({.temperature = temperature}), tempered(kAll, temperature));
  }
}

TEST(Sampling, TopKKeepsTheKLikeliest) {
  expect_shares(drawn({.top_k = 1}), {{4, 1}});
  expect_shares(drawn({.top_k = 2}), {{4, 0.625}, {5, 0.375}});
  expect_shares(drawn({.top_k = 3}), tempered({{4, 0.5}, {5, 0.3}, {6, 0.15}}, 1));
  expect_shares(drawn({.top_k = 100}), kAll);
}

TEST(Sampling, TopPKeepsTheFewestThatTogetherHaveIt) {
  expect_shares(drawn({.top_p = 0.1F}), {{4, 1}});
  expect_shares(drawn({.top_p = 0.49F}), {{4, 1}});
  expect_shares(drawn({.top_p = 0.51F}), {{4, 0.625}, {5, 0.375}});
  expect_shares(drawn({.top_p = 0.79F}), {{4, 0.625}, {5, 0.375}});
  expect_shares(drawn({.top_p = 0.81F}), tempered({{4, 0.5}, {5, 0.3}, {6, 0.15}}, 1));
  expect_shares(drawn({.top_p = 0.96F}), kAll);
}

TEST(Sampling, TopPCutsWhatTemperatureAndTopKLeave) {
  // Squared, the likeliest alone has 0.68; of two, it has 0.625.
  expect_shares(drawn({.top_p = 0.6F}), {{4, 0.625}, {5, 0.375}});
  expect_shares(drawn({.temperature = 0.5F, .top_p = 0.6F}), {{4, 1}});
  expect_shares(drawn({.top_k = 2, .top_p = 0.6F}), {{4, 1}});
}

TEST(Sampling, TheReportedProbabilityIsTheModels) {
  for (const Hypothesis& h : lines({.temperature = 3, .top_k = 3}, 20)) {
    EXPECT_NEAR(h.log_probability, std::log(kAll.at(h.tokens.at(0))), 1e-4);
  }
}

TEST(Sampling, ALinesDrawsDependOnTheSeedAndItsNumberAlone) {
  const auto tokens = [](const std::vector<Hypothesis>& found) {
    std::vector<std::int32_t> out;
    for (const Hypothesis& h : found) out.push_back(h.tokens.at(0));
    return out;
  };
  const auto all = tokens(lines({.seed = 3}, 60));
  EXPECT_EQ(tokens(lines({.seed = 3}, 60)), all);
  EXPECT_NE(tokens(lines({.seed = 4}, 60)), all);
  for (const std::uint64_t line : {0U, 7U, 59U}) EXPECT_EQ(tokens(lines({.seed = 3}, 1, line))[0], all[line]);
}

TEST(Sampling, WithoutItTheLikeliestIsTakenWhateverItsOptions) {
  for (const GenerateOptions& how :
       {GenerateOptions{.beam = 1}, GenerateOptions{.beam = 1, .temperature = 9, .top_k = 3},
        GenerateOptions{.beam = 1, .seed = 77}}) {
    EXPECT_EQ(test::hypotheses(kFour, how)[0].tokens, (test::Written{4}));
  }
}

}  // namespace
}  // namespace fovea
