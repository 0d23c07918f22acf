#include "fovea/nn/parameters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fovea/error.hpp"
#include "fovea/nn/parameters_file.hpp"
#include "support/scratch.hpp"

namespace fovea {
namespace {

std::vector<float> values_of(const Var& v) {
  return {v.value().values().begin(), v.value().values().end()};
}

struct Spread {
  double least, most, mean, deviation;
};

Spread spread_of(std::span<const float> values) {
  Spread s{values[0], values[0], 0, 0};
  for (const float v : values) {
    s.least = std::min<double>(s.least, v);
    s.most = std::max<double>(s.most, v);
    s.mean += v / static_cast<double>(values.size());
  }
  for (const float v : values) s.deviation += std::pow(v - s.mean, 2) / static_cast<double>(values.size());
  s.deviation = std::sqrt(s.deviation);
  return s;
}

// A uniform distribution in ±limit: it comes near both ends, and its deviation is limit / sqrt(3).
void expect_uniform(const Var& v, double limit) {
  const Spread s = spread_of(v.value().values());
  EXPECT_LE(s.most, limit * (1 + 1e-6));
  EXPECT_GE(s.least, -limit * (1 + 1e-6));
  EXPECT_GT(s.most, 0.99 * limit);
  EXPECT_LT(s.least, -0.99 * limit);
  EXPECT_NEAR(s.mean, 0, 0.03 * limit);
  EXPECT_NEAR(s.deviation, limit / std::sqrt(3.0), 0.03 * limit);
}

TEST(Init, XavierIsUniformByRowsAndColumns) {
  Parameters p(1);
  expect_uniform(p.get("w", {200, 40}, Init::xavier), std::sqrt(6.0 / 240));
  expect_uniform(p.get("deep", {10, 20, 40}, Init::xavier), std::sqrt(6.0 / 240));
  expect_uniform(p.get("row", {5000}, Init::xavier), std::sqrt(6.0 / 5001));
}

TEST(Init, RecurrentIsUniformByRows) {
  Parameters p(1);
  expect_uniform(p.get("w", {100, 80}, Init::recurrent), 0.1);
}

TEST(Init, EmbeddingIsNormalByColumnsWithoutAPaddingRow) {
  Parameters p(1);
  const Var table = p.get("table", {200, 64}, Init::embedding);
  const auto values = table.value().values();
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(values[i], 0);
  const Spread s = spread_of(values.subspan(64));
  EXPECT_NEAR(s.deviation, 1.0 / 8, 0.003);
  EXPECT_NEAR(s.mean, 0, 0.005);
  EXPECT_GT(s.most, 3.0 / 8);  // no uniform one
}

TEST(Init, UniformAndNormalAreAsWideAsAsked) {
  Parameters p(1);
  expect_uniform(p.get("uniform", {90, 90}, Init::uniform(0.3)), 0.3);
  const Var normal = p.get("normal", {90, 90}, Init::normal(0.3));
  const Spread s = spread_of(normal.value().values());
  EXPECT_NEAR(s.deviation, 0.3, 0.01);
  EXPECT_GT(s.most, 0.9);
  EXPECT_NE(normal.value().data()[0], 0);  // only an embedding has a padding row
}

TEST(Init, ZerosAndOnes) {
  Parameters p(1);
  EXPECT_THAT(values_of(p.get("zeros", {3}, Init::zeros)), testing::Each(0.0F));
  EXPECT_THAT(values_of(p.get("ones", {3}, Init::ones)), testing::Each(1.0F));
}

TEST(Parameters, AWeightFollowsFromSeedAndNameAlone) {
  Parameters a(1), b(1), other(2);
  const auto first = values_of(a.get("first", {4, 4}, Init::xavier));
  const auto second = values_of(a.get("second", {4, 4}, Init::xavier));
  EXPECT_NE(first, second);
  EXPECT_EQ(values_of(b.get("second", {4, 4}, Init::xavier)), second);
  EXPECT_EQ(values_of(b.get("first", {4, 4}, Init::xavier)), first);
  EXPECT_NE(values_of(other.get("first", {4, 4}, Init::xavier)), first);
}

TEST(Parameters, AskingAgainGivesTheSameWeight) {
  Parameters p(1);
  const Var a = p.get("w", {2, 3}, Init::xavier);
  const Var b = p.get("w", {2, 3}, Init::zeros);
  a.value().data()[0] = 42;
  EXPECT_EQ(b.value().data()[0], 42);
  EXPECT_EQ(p.entries().size(), 1U);
  EXPECT_TRUE(a.requires_grad());
}

TEST(Parameters, WhatWasPutInIsTakenInsteadOfMadeUp) {
  Parameters p(1);
  p.put("w", Tensor::of({2}, {5.0F, 6.0F}));
  EXPECT_EQ(p.entries()[0].use, Parameters::Use::none);
  EXPECT_THAT(values_of(p.get("w", {2}, Init::zeros)), testing::ElementsAre(5, 6));
  EXPECT_EQ(p.entries()[0].use, Parameters::Use::values);
  EXPECT_THROW(p.put("w", Tensor::zeros({2})), Error);
}

TEST(Parameters, AnotherShapeIsAnErrorWithNameAndBothShapes) {
  Parameters p(1);
  (void)p.get("w", {2, 3}, Init::zeros);
  const std::string message = test::message_of<ShapeError>([&] { (void)p.get("w", {3, 2}, Init::zeros); });
  EXPECT_THAT(message, testing::AllOf(testing::HasSubstr("w"), testing::HasSubstr(Shape{2, 3}.text()),
                                      testing::HasSubstr(Shape{3, 2}.text())));
}

TEST(Parameters, SealedOnesMakeNothingNew) {
  Parameters p(1);
  (void)p.get("w", {2}, Init::zeros);
  p.seal();
  EXPECT_NO_THROW((void)p.get("w", {2}, Init::zeros));
  EXPECT_THAT(test::message_of<Error>([&] { (void)p.get("v", {2}, Init::zeros); }), testing::HasSubstr("v"));
}

TEST(Parameters, CountsNumbersAndKeepsTheOrderOfAsking) {
  Parameters p(1);
  (void)p.get("b", {2, 3}, Init::zeros);
  (void)p.get("a", {4}, Init::zeros);
  EXPECT_EQ(p.count(), 10);
  EXPECT_EQ(p.entries()[0].name, "b");
  EXPECT_EQ(p.entries()[1].name, "a");
  EXPECT_NE(p.find("a"), nullptr);
  EXPECT_EQ(p.find("c"), nullptr);
}

TEST(Parameters, AReplicaSharesValuesAndNotGradients) {
  Parameters p(1);
  const Var w = p.get("w", {2}, Init::ones);
  Parameters copy = p.replica();
  const Var v = copy.get("w", {2}, Init::zeros);
  w.value().data()[0] = 42;
  EXPECT_EQ(v.value().data()[0], 42);
  v.accumulate(Tensor::full({2}, 1.0F));
  EXPECT_EQ(w.grad().data()[0], 0);
  EXPECT_EQ(v.grad().data()[0], 1);
  EXPECT_THROW((void)copy.get("other", {2}, Init::zeros), Error);
}

TEST(Init, UniformAndNormalTakeTheirScale) {
  Parameters p(1);
  expect_uniform(p.get("u", {100, 80}, Init::uniform(0.3)), 0.3);
  const Spread s = spread_of(p.get("n", {100, 80}, Init::normal(0.5)).value().values());
  EXPECT_NEAR(s.deviation, 0.5, 0.02);
  EXPECT_NEAR(s.mean, 0, 0.02);
}

TEST(Parameters, AMatrixIsUsedOneWayRound) {
  Parameters p(1);
  (void)p.get("w", {2, 3}, Init::zeros);
  EXPECT_FALSE(p.entries()[0].layout);
  (void)p.matrix("w", {2, 3}, Init::zeros);
  EXPECT_NO_THROW((void)p.matrix("w", {2, 3}, Init::zeros));
  const std::string message = test::message_of<UsageError>([&] {
    (void)p.matrix("w", {2, 3}, Init::zeros, MatrixLayout::out_in);
  });
  EXPECT_THAT(message, testing::HasSubstr("w"));
  Parameters copy = p.replica();
  EXPECT_THROW((void)copy.matrix("w", {2, 3}, Init::zeros, MatrixLayout::out_in), UsageError);
}

TEST(Parameters, ComeBackFromAFileSealed) {
  const test::Scratch folder;
  Parameters p(3);
  const Var w = p.matrix("layer.weight", {2, 3}, Init::xavier).var;
  const Var b = p.get("layer.bias", {3}, Init::normal(1));
  save_parameters(p, folder / "weights.safetensors");
  Parameters loaded = load_parameters(folder / "weights.safetensors");
  EXPECT_EQ(loaded.count(), 9);
  for (const auto& entry : loaded.entries()) EXPECT_EQ(entry.use, Parameters::Use::none) << entry.name;
  EXPECT_EQ(values_of(loaded.get("layer.weight", {2, 3}, Init::zeros)), values_of(w));
  EXPECT_EQ(values_of(loaded.get("layer.bias", {3}, Init::zeros)), values_of(b));
  EXPECT_THROW((void)loaded.get("other", {3}, Init::zeros), Error);
  w.value().data()[0] = 42;  // the file is a copy
  EXPECT_NE(loaded.find("layer.weight")->value().data()[0], 42);
}

TEST(Parameters, AFileThatIsNotThereIsNamed) {
  const test::Scratch folder;
  const std::string file = (folder / "none.safetensors").string();
  EXPECT_THAT(test::message_of<FileError>([&] { (void)load_parameters(file); }), testing::HasSubstr(file));
}

TEST(Parameters, ZeroGradClearsEveryGradient) {
  Parameters p(1);
  for (const char* name : {"a", "b"}) p.get(name, {2}, Init::ones).accumulate(Tensor::full({2}, 1.0F));
  p.zero_grad();
  for (const auto& entry : p.entries()) {
    for (const float g : entry.weight.grad().values()) EXPECT_EQ(g, 0);
  }
}

}  // namespace
}  // namespace fovea
