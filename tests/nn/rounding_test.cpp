#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "fovea/error.hpp"
#include "fovea/nn/linear.hpp"
#include "fovea/nn/parameters_file.hpp"
#include "fovea/safetensors.hpp"
#include "support/scratch.hpp"

namespace fovea {
namespace {

Parameters some() {
  Parameters p(1);
  (void)Linear(p, "layer", 40, 30);
  (void)p.get("table", {50, 20}, Init::embedding);
  (void)p.matrix("output", {50, 20}, Init::xavier, MatrixLayout::out_in);
  (void)p.get("deep", {3, 4, 5}, Init::xavier);
  return p;
}

void expect_same(const Parameters& a, const Parameters& b) {
  for (const auto& entry : a.entries()) {
    const Var* other = b.find(entry.name);
    ASSERT_NE(other, nullptr) << entry.name;
    const auto x = entry.weight.value().values();
    const auto y = other->value().values();
    EXPECT_TRUE(std::equal(x.begin(), x.end(), y.begin(), y.end())) << entry.name;
  }
}

TEST(Rounding, AFileHoldsWhatRoundGives) {
  const test::Scratch scratch;
  for (const Storage storage : {Storage::f16, Storage::int8}) {
    Parameters p = some();
    save_parameters(p, scratch / "a.safetensors", storage);
    const Parameters read = load_parameters(scratch / "a.safetensors");
    EXPECT_EQ(read.stored(), storage);
    p.round(storage);
    expect_same(p, read);
    // Once more changes nothing.
    p.round(storage);
    expect_same(p, read);
  }
}

TEST(Rounding, IsNearAndByOutputs) {
  Parameters p(1);
  const Var w = p.matrix("w", {3, 2}, Init::zeros).var;
  const float values[] = {1000, 1, -500, 0.5F, 250, -0.25F};
  std::copy(std::begin(values), std::end(values), w.value().data());
  p.round(Storage::int8);
  const float* rounded = p.entries()[0].weight.value().data();
  // A scale for all would have made the small column 0.
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(rounded[i], values[i], i % 2 == 0 ? 4.0 : 0.004) << i;
}

TEST(Rounding, Int8IsAQuarterAsLarge) {
  const test::Scratch scratch;
  Parameters p(1);
  (void)p.matrix("w", {512, 256}, Init::xavier);
  save_parameters(p, scratch / "exact.safetensors");
  save_parameters(p, scratch / "half.safetensors", Storage::f16);
  save_parameters(p, scratch / "small.safetensors", Storage::int8);
  const auto size = [&](const char* name) { return static_cast<double>(std::filesystem::file_size(scratch / name)); };
  EXPECT_LT(size("half.safetensors"), 0.51 * size("exact.safetensors"));
  EXPECT_LT(size("small.safetensors"), 0.26 * size("exact.safetensors"));
}

TEST(Rounding, WhatDoesNotFitIsSaid) {
  const test::Scratch scratch;
  for (const auto& [storage, value] : {std::pair{Storage::int8, std::numeric_limits<float>::infinity()},
                                       {Storage::f16, 70000.0F},
                                       {Storage::f16, std::numeric_limits<float>::quiet_NaN()}}) {
    Parameters p = some();
    p.entries()[0].weight.value().data()[3] = value;
    const Storage as = storage;
    EXPECT_NE(test::message_of<Error>([&] { p.round(as); }).find("weight layer.weight: "), std::string::npos);
    EXPECT_NE(test::message_of<Error>([&] { save_parameters(p, scratch / "a", as); }).find("does not fit"),
              std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(scratch / "a"));
  }
}

TEST(Rounding, ABrokenFileIsAnErrorThatNamesTheWeight) {
  const test::Scratch scratch;
  const auto path = scratch / "a.safetensors";
  const std::int8_t q[6] = {1, 2, 3, -127, 5, -128};
  const auto error = [&](const Shape& shape, const Tensor& scale) {
    SafetensorsWriter writer;
    writer.add("w", shape, std::span<const std::int8_t>(q));
    if (scale) writer.add("w.scale", scale);
    writer.write(path);
    return test::message_of<FileError>([&] { (void)load_parameters(path); });
  };
  EXPECT_NE(error({2, 3}, {}).find("weight w.scale: is missing"), std::string::npos);
  EXPECT_NE(error({2, 3}, Tensor::full({3}, 1)).find("[1,3] or [2,1] is needed"), std::string::npos);
  EXPECT_NE(error({2, 3}, Tensor::full({1, 2}, 1)).find("[1,3] or [2,1] is needed"), std::string::npos);
  EXPECT_NE(error({2, 3}, Tensor::full({2, 1}, -1)).find("is not a scale"), std::string::npos);
  EXPECT_NE(error({2, 3}, Tensor::full({2, 1}, NAN)).find("is not a scale"), std::string::npos);
  EXPECT_NE(error({6}, Tensor::full({1, 6}, 1)).find("only matrices are stored so"), std::string::npos);
  SafetensorsWriter writer;
  writer.add("w", {2, 3}, std::span<const std::int8_t>(q));
  writer.add("w.scale", Tensor::of({2, 1}, {0.5F, 2.0F}));
  writer.write(path);
  const Parameters read = load_parameters(path);
  ASSERT_EQ(read.entries().size(), 1U);
  EXPECT_EQ(read.find("w")->value().data()[1], 1.0F);
  EXPECT_EQ(read.find("w")->value().data()[5], -256.0F);
}

}  // namespace
}  // namespace fovea
