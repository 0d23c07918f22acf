#include "fovea/train/options.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace fovea {
namespace {

TEST(UsualRate, FollowsVaswaniForATransformer) {
  EXPECT_NEAR(usual_rate(preset("transformer-tiny"), 4000), 1 / std::sqrt(128.0 * 4000), 1e-12);
  EXPECT_NEAR(usual_rate(preset("transformer-small"), 1000), 1 / std::sqrt(256.0 * 1000), 1e-12);
  // A short warm-up does not ask for a rate no training survives.
  EXPECT_EQ(usual_rate(preset("transformer-tiny"), 0), usual_rate(preset("transformer-tiny"), 1000));
}

TEST(UsualRate, IsTheSmallerOneForAMixedPair) {
  EXPECT_EQ(usual_rate(preset("rnn-bahdanau"), 1000), 2e-3);
  EXPECT_EQ(usual_rate(preset("cnn"), 1000), 1e-3);
  ModelConfig mixed = preset("transformer-tiny");
  mixed.generator().decoder = RnnDecoderConfig{};
  EXPECT_EQ(usual_rate(mixed, 1000), 2e-3);
  EXPECT_LT(usual_rate(mixed, 100'000), 1e-3);
}

}  // namespace
}  // namespace fovea
