// Weights in a file, and matrices that stay in int8 when they are loaded.
#include "fovea/nn/parameters_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "fovea/error.hpp"
#include "fovea/nn.hpp"
#include "fovea/safetensors.hpp"
#include "kernels/kernels.hpp"
#include "support/files.hpp"

namespace fovea {
namespace {

using test::TemporaryFolder;
using ::testing::HasSubstr;

// A layer whose weight is only multiplied with, one whose weight is looked up too, and an embedding.
struct Net {
  Linear first;
  Embedding table;
  Weight tied;
  Embedding alone;
  explicit Net(Parameters& p)
      : first(p, "first", 24, 40),
        table(p, "table", 50, 40, {.scaled = false}),
        tied(p.matrix("table", {50, 40}, Init::embedding, MatrixLayout::out_in)),
        alone(p, "alone", 30, 24) {}
  [[nodiscard]] std::vector<float> run() const {
    const NoGrad quiet;
    const std::vector<std::int32_t> ids{1, 29, 7};
    const Tensor hidden = first(alone(ids, {3}), Activation::relu).value();
    const Tensor seen = table(std::vector<std::int32_t>{4, 49, 0}, {3}).value();
    Tensor sum = hidden.clone();
    for (std::int64_t i = 0; i < sum.size(); ++i) sum.data()[i] += seen.data()[i];
    const Tensor out = tied.product(sum);
    return {out.values().begin(), out.values().end()};
  }
};

std::vector<float> packed_run(Parameters p, Storage storage) {
  const Net build(p);
  if (p.stored() != storage) p.round(storage);
  p.pack(storage);
  return Net(p).run();
}

class ParametersFile : public ::testing::TestWithParam<Storage> {
 protected:
  ParametersFile() : file_(folder_.path("w.safetensors")) {
    const Net net(made_);
    save_parameters(made_, file_, GetParam());
  }
  TemporaryFolder folder_;
  std::string file_;
  Parameters made_{7};
};

TEST_P(ParametersFile, GivesTheSameBytesInPlaceAndCopiedWithAllKernels) {
  for (const kernels::Table* table : kernels::available()) {
    const kernels::ScopedKernels use(*table);
    const std::vector<float> expected = packed_run(made_.replica(), GetParam());
    for (const bool in_place : {false, true}) {
      const Parameters p = load_parameters(file_, in_place);
      EXPECT_EQ(p.stored(), GetParam());
      EXPECT_EQ(packed_run(p.replica(), GetParam()), expected) << table->name << " in place " << in_place;
    }
  }
}

TEST_P(ParametersFile, InAnotherStorageItGivesTheSameInPlaceAndCopied) {
  for (const Storage storage : {Storage::f32, Storage::f16, Storage::int8}) {
    EXPECT_EQ(packed_run(load_parameters(file_, true), storage), packed_run(load_parameters(file_, false), storage));
  }
}

TEST_P(ParametersFile, BytesThatWereChangedCrashNothing) {
  const std::string bytes = folder_.read("w.safetensors");
  Rng rng(5);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = bytes;
    for (std::uint64_t n = 1 + rng.below(3); n > 0; --n) {
      // Half of them in the header.
      damaged[rng.below(rng.below(2) == 0 ? 1200 : damaged.size())] = static_cast<char>(rng.below(256));
    }
    if (i % 5 == 0) damaged.resize(rng.below(damaged.size()));
    folder_.write("damaged.safetensors", damaged);
    try {
      (void)packed_run(load_parameters(folder_.path("damaged.safetensors"), true), GetParam());
    } catch (const Error&) {
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Storages, ParametersFile, ::testing::Values(Storage::f32, Storage::f16, Storage::int8),
                         [](const auto& info) { return std::string(name_of(info.param)); });

class Int8File : public ::testing::Test {
 protected:
  // A matrix [2, 2] with a scale for each column, or for each row.
  void write(std::int8_t first, bool by_columns) {
    const std::int8_t q[] = {first, 2, 3, -127};
    SafetensorsWriter writer;
    writer.add("w", {2, 2}, std::span<const std::int8_t>(q));
    writer.add("w.scale", Tensor::of(by_columns ? Shape{1, 2} : Shape{2, 1}, {0.5F, 2.0F}));
    writer.write(file_);
  }
  TemporaryFolder folder_;
  std::string file_ = folder_.path("w.safetensors");
};

TEST_F(Int8File, AMatrixThatIsOnlyMultipliedWithHasNoFloats) {
  write(1, true);
  Parameters p = load_parameters(file_, true);
  const Weight w = p.matrix("w", {2, 2}, Init::zeros);
  EXPECT_TRUE(w);
  EXPECT_FALSE(w.var);
  ASSERT_TRUE(w.packed);
  EXPECT_EQ(w.packed->storage(), Storage::int8);
  EXPECT_EQ(w.in(), 2);
  EXPECT_EQ(w.out(), 2);
  p.pack(Storage::int8);
  EXPECT_EQ(p.matrix("w", {2, 2}, Init::zeros).packed, w.packed) << "packed twice";
  const float expected[] = {0.5F, 4, 1.5F, -254};
  EXPECT_TRUE(std::ranges::equal(w.values().value().values(), expected));
  EXPECT_TRUE(std::ranges::equal(p.entries()[0].values().values(), expected));
  // A gradient through its products needs the values.
  const Linear layer = [&] {
    Linear l;
    l.weight = w;
    return l;
  }();
  const Var x = Var::parameter(Tensor::of({1, 2}, {1, 1}));
  backward(layer(x), Tensor::of({1, 2}, {1, 0}));
  EXPECT_TRUE(std::ranges::equal(x.grad().values(), std::vector<float>{0.5F, 1.5F}));
  p.unpack();
  const Weight unpacked = p.matrix("w", {2, 2}, Init::zeros);
  EXPECT_TRUE(std::ranges::equal(unpacked.var.value().values(), expected));
  EXPECT_FALSE(unpacked.packed);
}

TEST_F(Int8File, AMatrixRoundedTheOtherWayRoundOrTooFarIsReadAsFloats) {
  const float by_rows[] = {0.5F, 1, 6, -254}, far[] = {-64, 4, 1.5F, -254};
  for (const bool other_way : {true, false}) {
    write(other_way ? 1 : -128, !other_way);
    Parameters p = load_parameters(file_, true);
    const Weight w = p.matrix("w", {2, 2}, Init::zeros);
    ASSERT_TRUE(w.var);
    EXPECT_FALSE(w.packed);
    EXPECT_TRUE(std::ranges::equal(w.var.value().values(), other_way ? by_rows : far));
    p.pack(Storage::int8);
    EXPECT_TRUE(p.matrix("w", {2, 2}, Init::zeros).packed);
  }
}

TEST_F(Int8File, WeightsPackedByVersion02AreRefusedWithWhatToDo) {
  const std::uint8_t bytes[64] = {};
  SafetensorsWriter writer;
  writer.add("w.packed", {64}, std::span<const std::uint8_t>(bytes));
  writer.set_metadata("w.packed", "int8 in_out 2 2 16");
  writer.write(file_);
  const std::string error = test::message_of<FileError>([&] { (void)load_parameters(file_, true); });
  EXPECT_THAT(error, HasSubstr(file_ + ": weight w.packed is packed"));
  EXPECT_THAT(error, HasSubstr("run fovea quantize on the original model again"));
}

}  // namespace
}  // namespace fovea
