// Every option that cannot be is refused by name, and what is just possible is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "fovea/decode/search.hpp"
#include "fovea/error.hpp"
#include "support/scratch.hpp"

namespace fovea {
namespace {

void expect_refused(const std::string& name, const GenerateOptions& options) {
  std::string message = test::message_of<UsageError>([&] { check_search(options); });
  std::replace(message.begin(), message.end(), '-', '_');
  EXPECT_THAT(message, testing::HasSubstr(name));
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinite = std::numeric_limits<float>::infinity();

TEST(GenerateOptions, WhatCannotBeIsRefused) {
  for (const int wrong : {0, -1, 1001}) expect_refused("beam", {.beam = wrong});
  for (const int wrong : {0, 4}) expect_refused("n_best", {.beam = 3, .n_best = wrong});
  expect_refused("n_best", {.beam = 3, .n_best = 2, .sample = true});
  for (const float wrong : {kNan, kInfinite}) expect_refused("length_penalty", {.length_penalty = wrong});
  for (const float wrong : {-0.1F, kNan, kInfinite}) expect_refused("coverage_penalty", {.coverage_penalty = wrong});
  expect_refused("min_length", {.min_length = -1});
  for (const int wrong : {0, -1, 20001}) expect_refused("max_length", {.max_length = wrong});
  expect_refused("min_length", {.min_length = 4, .max_length = 3});
  expect_refused("no_repeat_ngram", {.no_repeat_ngram = -1});
  expect_refused("repetition_penalty", {.repetition_penalty = 0.9F});
  for (const float wrong : {0.0F, -1.0F, kNan, kInfinite}) expect_refused("temperature", {.temperature = wrong});
  expect_refused("top_k", {.top_k = -1});
  for (const float wrong : {0.0F, -0.5F, 1.01F, kNan}) expect_refused("top_p", {.top_p = wrong});
}

TEST(GenerateOptions, WhatIsJustPossibleIsTaken) {
  for (const GenerateOptions& how :
       {GenerateOptions{}, GenerateOptions{.beam = 1}, GenerateOptions{.beam = 1000, .n_best = 1000},
        GenerateOptions{.length_penalty = -1}, GenerateOptions{.min_length = 3, .max_length = 3},
        GenerateOptions{.min_length = 50}, GenerateOptions{.top_p = 1}, GenerateOptions{.top_p = 0.001F}}) {
    EXPECT_NO_THROW(check_search(how));
  }
}

}  // namespace
}  // namespace fovea
