// Weights in a file as products read them.
#include "nn/packed_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/rng.hpp"
#include "fovea/error.hpp"
#include "fovea/nn.hpp"
#include "kernels/kernels.hpp"
#include "kernels/packed_layout.hpp"
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
  explicit Net(Parameters& p)
      : first(p, "first", 24, 40),
        table(p, "table", 50, 40, {.scaled = false}),
        tied(p.matrix("table", {50, 40}, Init::embedding, MatrixLayout::out_in)),
        alone(p, "alone", 30, 24) {}
  Embedding alone;
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

class PackedFile : public ::testing::TestWithParam<Storage> {
 protected:
  PackedFile() : file_(folder_.path("w.safetensors")) {
    const Net net(made_);
    made_.round(GetParam());
    made_.save_packed(file_, GetParam());
    Parameters plain = made_.replica();
    const Net build(plain);
    plain.pack(GetParam());
    expected_ = Net(plain).run();
  }
  [[nodiscard]] std::vector<float> loaded(bool in_place) const {
    Parameters p = Parameters::load(file_, in_place);
    EXPECT_EQ(p.stored(), GetParam());
    const Net build(p);
    p.pack(GetParam());
    return Net(p).run();
  }
  TemporaryFolder folder_;
  std::string file_;
  Parameters made_{7};
  std::vector<float> expected_;
};

TEST_P(PackedFile, GivesTheSameBytesInPlaceAndUnpacked) {
  EXPECT_EQ(loaded(true), expected_);
  EXPECT_EQ(loaded(false), expected_);
}

TEST_P(PackedFile, IsUnpackedWhereTheKernelsWantAnotherLayout) {
  for (const kernels::Table* table : kernels::available()) {
    const kernels::ScopedKernels use(*table);
    Parameters plain = made_.replica();
    const Net build(plain);
    plain.pack(GetParam());
    EXPECT_EQ(loaded(true), Net(plain).run()) << table->name;
  }
}

TEST_P(PackedFile, HoldsNoValuesOfWhatIsOnlyMultiplied) {
  Parameters p = Parameters::load(file_, true);
  const Net net(p);
  EXPECT_TRUE(stands_for_packed(net.first.weight.var.value()));
  EXPECT_FALSE(stands_for_packed(net.table.table.value()));
  const Safetensors file(file_);
  EXPECT_FALSE(file.contains("first.weight"));
  EXPECT_TRUE(file.contains("table"));
  const Tensor values = net.first.weight.values();
  const Tensor wanted = made_.find("first.weight")->value();
  for (std::int64_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(values.data()[i], wanted.data()[i]);
  p.unpack();
  EXPECT_FALSE(stands_for_packed(p.find("first.weight")->value()));
}

TEST_P(PackedFile, WritesNothingBesideTheWeights) {
  if (GetParam() != Storage::f32) return;  // the others fill their panels up when they are packed
  const Safetensors file(file_);
  const kernels::PackedLayout layout = kernels::PackedLayout::of(GetParam(), 24, 40);
  const std::span<const std::byte> bytes = file.bytes("first.weight.packed");
  for (std::int64_t p = 0; p < 24; ++p) {
    for (std::int64_t j = 40; j < layout.columns(); ++j) {
      float value = 1;
      const std::int64_t at = j / layout.width * layout.width * 24 + p * layout.width + j % layout.width;
      std::memcpy(&value, bytes.data() + static_cast<std::size_t>(at) * sizeof(float), sizeof value);
      EXPECT_EQ(value, 0.0F);
    }
  }
}

TEST_P(PackedFile, BrokenDescriptionsAreErrorsThatNameTheWeight) {
  const auto error = [&](const std::string& from, const std::string& to) -> std::string {
    std::string bytes = folder_.read("w.safetensors");
    const std::size_t at = bytes.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    bytes.replace(at, from.size(), to);
    folder_.write("broken.safetensors", bytes);
    try {
      (void)Parameters::load(folder_.path("broken.safetensors"), true);
    } catch (const FileError& e) {
      return e.what();
    }
    return "no error";
  };
  const std::string storage(name_of(GetParam()));
  const std::string is = storage + " in_out 24 40";
  EXPECT_THAT(error(is, storage + " in_out 24 90"), HasSubstr("first.weight.packed: "));
  EXPECT_THAT(error(is, storage + " in_out 99 40"), HasSubstr("bytes are there"));
  EXPECT_THAT(error(is, storage + " in_out -4 40"), HasSubstr("describes no packed matrix"));
  EXPECT_THAT(error(is, storage + " outwrd 24 40"), HasSubstr("describes no packed matrix"));
  EXPECT_THAT(error(is, std::string(storage.size(), 'x') + " in_out 24 40"), HasSubstr("describes no packed matrix"));
  EXPECT_THAT(error("\"storage\":\"" + storage, "\"storage\":\"" + std::string(storage.size(), 'x')),
              HasSubstr("fp32, f16 or int8 is needed"));
}

TEST_P(PackedFile, BytesThatWereChangedCrashNothing) {
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
      Parameters p = Parameters::load(folder_.path("damaged.safetensors"), true);
      const Net build(p);
      p.pack(GetParam());
      (void)Net(p).run();
    } catch (const Error&) {
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Storages, PackedFile, ::testing::Values(Storage::f32, Storage::f16, Storage::int8),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace fovea
