// What interventions do to a query's weights, and to the context that attend() makes of them.
#include "fovea/attention/interventions.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "fovea/attention/attend.hpp"
#include "fovea/error.hpp"

namespace fovea {
namespace {

using What = AttentionEdit::What;
using testing::ElementsAre;
using testing::FloatNear;

std::vector<float> edited(const AttentionEdit& edit, std::vector<float> weights,
                          const std::vector<std::uint8_t>& visible = {}, std::int64_t query = 0) {
  const Interventions all{.attention = {edit}};
  SiteEditor(all, AttentionKind::cross, 0).edit({0, 0, query, 0}, weights, visible);
  return weights;
}

TEST(Interventions, CutTakesAWeightAndTheOthersKeepTheirShares) {
  EXPECT_THAT(edited({.what = What::cut, .key = 1}, {0.2F, 0.5F, 0.3F}),
              ElementsAre(FloatNear(0.4F, 1e-6F), 0.0F, FloatNear(0.6F, 1e-6F)));
  EXPECT_THAT(edited({.what = What::cut, .key = 0}, {1.0F, 0.0F}), ElementsAre(0.0F, 0.0F));
  EXPECT_THAT(edited({.what = What::cut, .key = 9}, {0.5F, 0.5F}), ElementsAre(0.5F, 0.5F));
}

TEST(Interventions, ForceGivesAWeightAndTheOthersTheRest) {
  EXPECT_THAT(edited({.what = What::force, .key = 2, .value = 0.5F}, {0.6F, 0.4F, 0.0F}),
              ElementsAre(FloatNear(0.3F, 1e-6F), FloatNear(0.2F, 1e-6F), 0.5F));
  EXPECT_THAT(edited({.what = What::force, .key = 0}, {0.1F, 0.9F}), ElementsAre(1.0F, 0.0F));
  EXPECT_THAT(edited({.what = What::force, .key = 1}, {1.0F, 0.0F}, {1, 0}), ElementsAre(1.0F, 0.0F))
      << "a key that is not visible cannot be forced";
}

TEST(Interventions, UniformTemperatureAndSilence) {
  EXPECT_THAT(edited({.what = What::uniform}, {0.9F, 0.1F, 0.0F}, {1, 1, 0}), ElementsAre(0.5F, 0.5F, 0.0F));
  EXPECT_THAT(edited({.what = What::silence}, {0.9F, 0.1F}), ElementsAre(0.0F, 0.0F));
  const std::vector<double> scores{1, 2, 4};
  double warm = 0;
  double plain = 0;
  for (const double s : scores) {
    warm += std::exp(s / 2);
    plain += std::exp(s);
  }
  std::vector<float> weights;
  for (const double s : scores) weights.push_back(static_cast<float>(std::exp(s) / plain));
  const auto out = edited({.what = What::temperature, .value = 2}, weights);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(out[i], std::exp(scores[i] / 2) / warm, 1e-6);
}

TEST(Interventions, ReachOnlyTheirKindLayerHeadAndQuery) {
  const std::vector<float> w{0.2F, 0.8F};
  for (const AttentionEdit& other :
       {AttentionEdit{.what = What::silence, .kind = AttentionKind::encoder},
        AttentionEdit{.what = What::silence, .layer = 1}, AttentionEdit{.what = What::silence, .head = 1},
        AttentionEdit{.what = What::silence, .query = 1}}) {
    EXPECT_EQ(edited(other, w), w);
  }
  EXPECT_THAT(edited({.what = What::silence, .query = 1}, w, {}, 1), ElementsAre(0.0F, 0.0F));
  const Interventions all{.attention = {{.what = What::silence, .query = 5}}};
  std::vector<float> step = w;
  SiteEditor(all, AttentionKind::cross, 0, 5).edit({0, 0, 0, 0}, step, {});
  EXPECT_THAT(step, ElementsAre(0.0F, 0.0F)) << "while a decoder writes, the position of all queries is its step";
}

TEST(Interventions, AreCheckedBeforeTheyAreMade) {
  const auto refuses = [](const AttentionEdit& edit) {
    EXPECT_THROW((Interventions{.attention = {edit}}.check()), UsageError);
  };
  refuses({.what = What::cut});
  refuses({.what = What::force, .key = 0, .value = 1.5F});
  refuses({.what = What::temperature, .value = 0});
  refuses({.what = What::cut, .query = -1, .key = 0});
  EXPECT_THROW((Interventions{.tokens = {{.token = -1}}}.check()), UsageError);
}

TEST(Interventions, MakeTheContextOfTheEditedWeights) {
  const Tensor x = Tensor::of({1, 3, 2}, {1, 0, 0, 1, 2, 1});
  const Interventions all{.attention = {{.what = What::force, .kind = AttentionKind::encoder, .query = 0, .key = 2}}};
  const SiteEditor editor(all, AttentionKind::encoder, 0);
  const Attended plain = attend(x, {.want = {.weights = true, .scores = true}});
  const Attended changed = attend(x, {.editor = &editor, .want = {.weights = true}});
  const float* row = changed.context.value().data();
  EXPECT_FLOAT_EQ(row[0], 2);
  EXPECT_FLOAT_EQ(row[1], 1);
  for (int i = 2; i < 6; ++i) EXPECT_NEAR(row[i], plain.context.value().data()[i], 1e-6F) << "another query";
  // The scores that were reported give the weights.
  for (int q = 0; q < 3; ++q) {
    double sum = 0;
    for (int k = 0; k < 3; ++k) sum += std::exp(static_cast<double>(plain.masked.data()[q * 3 + k]));
    for (int k = 0; k < 3; ++k) {
      EXPECT_EQ(plain.scores.data()[q * 3 + k], plain.masked.data()[q * 3 + k]);
      EXPECT_NEAR(plain.weights.value().data()[q * 3 + k],
                  std::exp(static_cast<double>(plain.masked.data()[q * 3 + k])) / sum, 1e-6);
    }
  }
  const Attended causal = attend(x, {.causal = true, .want = {.scores = true}});
  EXPECT_EQ(causal.masked.data()[1], -INFINITY);
  EXPECT_THROW((void)attend(Var::parameter(x), {.editor = &editor}), UsageError) << "there is no gradient";
}

}  // namespace
}  // namespace fovea
