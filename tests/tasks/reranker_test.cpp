#include "tasks/translation/reranker.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fovea/error.hpp"

namespace fovea {
namespace {

using Lines = std::vector<std::string>;

text::JointNgramModel memory() {
  return {Lines{"c a t", "c a n", "t a n", "n a p", "p a c t"}, Lines{"K A T", "K A N", "T A N", "N A P", "P A K T"}};
}

std::vector<Translation> outputs() {
  std::vector<Translation> all(3);
  all[0].text = "S A P";
  all[0].log_probability = -1;
  all[1].text = "K A P";
  all[1].log_probability = -1.5;
  all[2].text = "K A P P K A P";  // more than two sounds for a letter
  all[2].log_probability = -0.5;
  return all;
}

TEST(Reranker, TheMemoryMayDecide) {
  auto ranked = outputs();
  Reranker(memory(), 0.5).rank("c a p", ranked);
  EXPECT_EQ(ranked[0].text, "K A P");
  EXPECT_EQ(ranked[1].text, "S A P");
  EXPECT_EQ(ranked[2].text, "K A P P K A P");
  const auto recall = memory();
  EXPECT_NEAR(ranked[0].score, 0.5 * -1.5 + 0.5 * recall.log_probability("c a p", "K A P"), 1e-5);
  EXPECT_EQ(ranked[0].log_probability, -1.5F);
}

TEST(Reranker, WithoutWeightTheModelDecides) {
  auto ranked = outputs();
  Reranker(memory(), 0).rank("c a p", ranked);
  EXPECT_EQ(ranked[0].text, "K A P P K A P");
  EXPECT_EQ(ranked[1].text, "S A P");
  EXPECT_FLOAT_EQ(ranked[1].score, -1);
  std::vector<Translation> none;
  Reranker(memory(), 1).rank("c a p", none);
  EXPECT_TRUE(none.empty());
}

TEST(Reranker, WhatCannotBeReadComesLastInTheModelsOrder) {
  std::vector<Translation> ranked(3);
  ranked[0].text = "K A P P K A P P";
  ranked[0].log_probability = -0.02F;
  ranked[1].text = "K A P P K A P";
  ranked[1].log_probability = -0.01F;
  ranked[2].text = "K A P";
  ranked[2].log_probability = -std::numeric_limits<float>::infinity();
  Reranker(memory(), 1).rank("c a p", ranked);  // infinity times 0 is nobody's score
  EXPECT_EQ(ranked[0].text, "K A P");
  EXPECT_TRUE(std::isfinite(ranked[0].score));
  Reranker(memory(), 0.5).rank("c a p", ranked);
  EXPECT_EQ(ranked[1].text, "K A P P K A P");
  EXPECT_FLOAT_EQ(ranked[1].score, -0.005F);
}

TEST(Reranker, AnEmptyLineStaysAsItIs) {
  std::vector<Translation> ranked(2);
  Reranker(memory(), 0.5).rank(" ", ranked);
  EXPECT_EQ(ranked.size(), 2U);
  EXPECT_EQ(ranked[0].score, 0);
}

TEST(Reranker, AWeightOutsideIsRefused) {
  EXPECT_THROW(Reranker(memory(), -0.1), UsageError);
  EXPECT_THROW(Reranker(memory(), 1.1), UsageError);
}

}  // namespace
}  // namespace fovea
