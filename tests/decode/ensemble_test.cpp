#include "fovea/decode/ensemble.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/decode/search.hpp"
#include "fovea/error.hpp"
#include "fovea/text.hpp"

namespace fovea {
namespace {

// Row r gives token t a fixed score, whatever was written before. It reports attention unless it has none.
class FixedStepper final : public Stepper {
 public:
  FixedStepper(std::vector<std::vector<float>> scores, std::vector<float> looked)
      : scores_(std::move(scores)), looked_(std::move(looked)) {}
  Tensor step(std::span<const std::int32_t> tokens) override {
    EXPECT_EQ(tokens.size(), scores_.size());
    const auto width = static_cast<std::int64_t>(scores_[0].size());
    Tensor out = Tensor::empty({static_cast<std::int64_t>(scores_.size()), width});
    for (std::size_t r = 0; r < scores_.size(); ++r) {
      std::copy(scores_[r].begin(), scores_[r].end(), out.data() + static_cast<std::int64_t>(r) * width);
    }
    return out;
  }
  void keep(std::span<const std::int32_t> rows) override {
    std::vector<std::vector<float>> kept;
    for (const auto r : rows) kept.push_back(scores_[static_cast<std::size_t>(r)]);
    scores_ = kept;
  }
  [[nodiscard]] Tensor attention() const override {
    if (looked_.empty()) return {};
    Tensor out = Tensor::empty({static_cast<std::int64_t>(scores_.size()), static_cast<std::int64_t>(looked_.size())});
    for (std::size_t r = 0; r < scores_.size(); ++r) {
      std::copy(looked_.begin(), looked_.end(), out.data() + r * looked_.size());
    }
    return out;
  }

 private:
  std::vector<std::vector<float>> scores_;
  std::vector<float> looked_;
};

using Members = std::vector<std::unique_ptr<Stepper>>;

float log_of(double p) {
  return static_cast<float>(std::log(p));
}

TEST(Ensemble, TheProbabilityOfATokenIsTheMeanOfItsMembers) {
  Members members;
  // Scores are before the softmax: any constant may be added to them.
  members.push_back(std::make_unique<FixedStepper>(
      std::vector<std::vector<float>>{{log_of(0.5) + 7, log_of(0.3) + 7, log_of(0.2) + 7}, {0, 0, 0}},
      std::vector<float>{}));
  members.push_back(std::make_unique<FixedStepper>(
      std::vector<std::vector<float>>{{log_of(0.1), log_of(0.8), log_of(0.1)}, {0, 0, -1e30F}}, std::vector<float>{}));
  EnsembleStepper ensemble(std::move(members));
  const std::vector<std::int32_t> tokens{bos_id, bos_id};
  const Tensor scores = ensemble.step(tokens);
  const std::vector<double> wanted{0.3, 0.55, 0.15, (1.0 / 3 + 0.5) / 2, (1.0 / 3 + 0.5) / 2, 1.0 / 6};
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(scores.data()[i], std::log(wanted[i]), 1e-6) << i;
  // Both follow when rows move.
  ensemble.keep(std::vector<std::int32_t>{1});
  const Tensor moved = ensemble.step(std::vector<std::int32_t>{bos_id});
  EXPECT_EQ(moved.dim(0), 1);
  EXPECT_NEAR(moved.data()[2], std::log(1.0 / 6), 1e-6);
}

TEST(Ensemble, WhereItLookedIsTheMeanOfThoseThatLook) {
  Members members;
  const std::vector<std::vector<float>> scores{{0, 1}};
  members.push_back(std::make_unique<FixedStepper>(scores, std::vector<float>{0.75F, 0.25F, 0}));
  members.push_back(std::make_unique<FixedStepper>(scores, std::vector<float>{}));
  members.push_back(std::make_unique<FixedStepper>(scores, std::vector<float>{0.25F, 0.25F, 0.5F}));
  const EnsembleStepper ensemble(std::move(members));
  const Tensor looked = ensemble.attention();
  ASSERT_EQ(looked.shape(), (Shape{1, 3}));
  EXPECT_EQ(looked.data()[0], 0.5F);
  EXPECT_EQ(looked.data()[1], 0.25F);
  EXPECT_EQ(looked.data()[2], 0.25F);
  Members blind;
  blind.push_back(std::make_unique<FixedStepper>(scores, std::vector<float>{}));
  EXPECT_FALSE(EnsembleStepper(std::move(blind)).attention());
}

TEST(Ensemble, WhatNoMemberCanWriteIsNotWritten) {
  Members members;
  // Tokens: pad, unk, bos, eos and two words. Neither member has the last word.
  const std::vector<float> never{-1e30F, -1e30F, -1e30F, 0, 1, -1e30F};
  for (int i = 0; i < 2; ++i) {
    members.push_back(std::make_unique<FixedStepper>(std::vector<std::vector<float>>{never}, std::vector<float>{}));
  }
  EnsembleStepper ensemble(std::move(members));
  const std::vector<SearchInput> inputs{{2, 0, {}}};
  const auto found = search(ensemble, inputs, {.beam = 1, .max_length = 3});
  ASSERT_EQ(found[0].size(), 1U);
  for (const std::int32_t token : found[0][0].tokens) EXPECT_EQ(token, 4);
  EXPECT_TRUE(std::isfinite(found[0][0].log_probability));
}

TEST(Ensemble, MembersOfUnequalVocabulariesAreAnError) {
  Members members;
  members.push_back(std::make_unique<FixedStepper>(std::vector<std::vector<float>>{{0, 1}}, std::vector<float>{}));
  members.push_back(std::make_unique<FixedStepper>(std::vector<std::vector<float>>{{0, 1, 2}}, std::vector<float>{}));
  EnsembleStepper ensemble(std::move(members));
  EXPECT_THROW((void)ensemble.step(std::vector<std::int32_t>{bos_id}), ShapeError);
}

}  // namespace
}  // namespace fovea
