#include "model/pictures/picture_net.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "fovea/error.hpp"
#include "fovea/model/picture_source.hpp"
#include "fovea/npy.hpp"
#include "fovea/safetensors.hpp"
#include "model/pictures/squeezenet.hpp"
#include "support/op_test.hpp"
#include "support/parameter_gradcheck.hpp"
#include "support/pictures.hpp"
#include "support/scratch.hpp"

namespace fovea {
namespace {

using test::random_tensor;

// Pictures [channels][row][column], by the definition and in double.
struct Plain {
  std::int64_t channels = 0, rows = 0, columns = 0;
  std::vector<double> values;
  [[nodiscard]] double at(std::int64_t c, std::int64_t y, std::int64_t x) const {
    if (y < 0 || x < 0 || y >= rows || x >= columns) return 0;
    return values[static_cast<std::size_t>((c * rows + y) * columns + x)];
  }
};

// W [out, in, k, k] as files have it.
Plain convolved(const Plain& in, const Tensor& w, const Tensor& b, std::int64_t stride, std::int64_t padding) {
  const std::int64_t k = w.dim(2);
  Plain out{w.dim(0), (in.rows + 2 * padding - k) / stride + 1, (in.columns + 2 * padding - k) / stride + 1, {}};
  for (std::int64_t o = 0; o < out.channels; ++o) {
    for (std::int64_t y = 0; y < out.rows; ++y) {
      for (std::int64_t x = 0; x < out.columns; ++x) {
        double sum = b.data()[o];
        for (std::int64_t i = 0; i < in.channels; ++i) {
          for (std::int64_t v = 0; v < k; ++v) {
            for (std::int64_t u = 0; u < k; ++u) {
              sum += in.at(i, y * stride - padding + v, x * stride - padding + u) *
                     w.data()[((o * in.channels + i) * k + v) * k + u];
            }
          }
        }
        out.values.push_back(std::max(0.0, sum));
      }
    }
  }
  return out;
}

Plain pooled(const Plain& in) {
  Plain out{in.channels, (in.rows - 3) / 2 + 1, (in.columns - 3) / 2 + 1, {}};
  for (std::int64_t c = 0; c < out.channels; ++c) {
    for (std::int64_t y = 0; y < out.rows; ++y) {
      for (std::int64_t x = 0; x < out.columns; ++x) {
        double most = in.at(c, 2 * y, 2 * x);
        for (int k = 0; k < 9; ++k) most = std::max(most, in.at(c, 2 * y + k / 3, 2 * x + k % 3));
        out.values.push_back(most);
      }
    }
  }
  return out;
}

std::vector<Shape> file_shapes() {
  std::vector<Shape> all{{64, 3, 3, 3}};
  std::int64_t in = 64;
  for (const std::int64_t squeeze : {16, 16, 32, 32, 48, 48, 64, 64}) {
    all.push_back({squeeze, in, 1, 1});
    all.push_back({4 * squeeze, squeeze, 1, 1});
    all.push_back({4 * squeeze, squeeze, 3, 3});
    in = 8 * squeeze;
  }
  return all;
}

std::vector<Tensor> random_weights() {
  std::vector<Tensor> all;
  unsigned seed = 1;
  for (const Shape& s : file_shapes()) {
    all.push_back(random_tensor(s, seed++, std::sqrt(2.0F / static_cast<float>(s[1] * s[2] * s[3]))));
    all.push_back(random_tensor({s[0]}, seed++, 0.1F));
  }
  return all;
}

Plain squeezenet(Plain x, const std::vector<Tensor>& w) {
  x = convolved(x, w[0], w[1], 2, 0);
  for (std::size_t fire = 0; fire < 8; ++fire) {
    if (fire == 0 || fire == 2 || fire == 4) x = pooled(x);
    const std::size_t at = 2 + 6 * fire;
    const Plain squeezed = convolved(x, w[at], w[at + 1], 1, 0);
    x = convolved(squeezed, w[at + 2], w[at + 3], 1, 0);
    const Plain wide = convolved(squeezed, w[at + 4], w[at + 5], 1, 1);
    x.channels += wide.channels;
    x.values.insert(x.values.end(), wide.values.begin(), wide.values.end());
  }
  return x;
}

// [B, H, W, C] from [B, C, H, W].
Tensor channels_last(const Tensor& t) {
  return t.transpose(1, 2).transpose(2, 3).contiguous();
}

TEST(SqueezeNet, ComputesWhatPlainLoopsCompute) {
  const std::vector<Tensor> weights = random_weights();
  const std::int64_t side = 63;
  const Tensor picture = random_tensor({1, 3, side, side}, 99);
  const Plain expected = squeezenet({3, side, side, {picture.values().begin(), picture.values().end()}}, weights);
  const test::Scratch folder;
  SafetensorsWriter mxnet, torch;
  const char* parts[] = {"squeeze", "expand1x1", "expand3x3"};
  const int places[] = {3, 4, 6, 7, 9, 10, 11, 12};
  for (std::size_t i = 0; i < 25; ++i) {
    const std::string name = fmt::format("squeezenet0_conv{}_", i);
    const std::string other =
        i == 0 ? "features.0." : fmt::format("features.{}.{}.", places[(i - 1) / 3], parts[(i - 1) % 3]);
    for (std::size_t k = 0; k < 2; ++k) {
      const char* part = k == 0 ? "weight" : "bias";
      write_npy(folder / (name + part + ".npy"), weights[2 * i + k]);
      mxnet.add(name + part, weights[2 * i + k]);
      torch.add(other + part, weights[2 * i + k]);
    }
  }
  mxnet.write(folder / "mxnet.safetensors");
  torch.write(folder / "torch.safetensors");
  for (const auto& from : {folder.folder(), folder / "mxnet.safetensors", folder / "torch.safetensors"}) {
    Parameters parameters;
    put_squeezenet_weights(from, parameters, "picture");
    parameters.seal();
    const SqueezeNet net(parameters, "picture");
    const Tensor got = net(channels_last(picture)).value();
    ASSERT_EQ(got.shape(), (Shape{1, expected.rows, expected.columns, 512}));
    EXPECT_EQ((PictureSourceConfig{.picture_encoder = PictureEncoder::squeezenet, .picture_size = 63}.grid()),
              expected.rows);
    for (std::int64_t y = 0; y < expected.rows; ++y) {
      for (std::int64_t x = 0; x < expected.columns; ++x) {
        for (std::int64_t c = 0; c < 512; ++c) {
          ASSERT_NEAR(got.data()[(y * expected.columns + x) * 512 + c], expected.at(c, y, x), 1e-3);
        }
      }
    }
  }
}

// The weights that were trained on ImageNet, against outputs that others computed with them. They are not part of the
// project: FOVEA_PICTURE_WEIGHTS names their folder.
TEST(SqueezeNet, GivesThePublishedScores) {
  const char* given = std::getenv("FOVEA_PICTURE_WEIGHTS");
  const std::filesystem::path folder =
      given != nullptr ? std::filesystem::path(given)
                       : std::filesystem::path(FOVEA_SOURCE_DIR) / ".." / "shared" / "models" / "squeezenet1.1";
  if (!std::filesystem::exists(folder / "test")) GTEST_SKIP() << folder << " with test/ is not there";
  Parameters parameters;
  put_squeezenet_weights(folder, parameters, "picture");
  const SqueezeNet net(parameters, "picture");
  const Tensor w = read_npy(folder / "squeezenet0_conv25_weight.npy");
  const Tensor b = read_npy(folder / "squeezenet0_conv25_bias.npy");
  for (const char* pair : {"0", "1", "2"}) {
    const Tensor input = read_npy(folder / "test" / pair / "input_0.npy");
    const Tensor output = read_npy(folder / "test" / pair / "output_0.npy");
    const NoGrad quiet;
    const Tensor features = net(channels_last(input)).value();
    const std::int64_t regions = features.dim(1) * features.dim(2);
    ASSERT_EQ(regions, 169);
    for (std::int64_t label = 0; label < 1000; ++label) {
      double sum = 0;
      for (std::int64_t r = 0; r < regions; ++r) {
        double score = b.data()[label];
        for (std::int64_t c = 0; c < 512; ++c) score += features.data()[r * 512 + c] * w.data()[label * 512 + c];
        sum += std::max(0.0, score);
      }
      ASSERT_NEAR(sum / static_cast<double>(regions), output.data()[label], 2e-3) << pair << " " << label;
    }
  }
}

TEST(SqueezeNet, SaysWhatIsWrongWithItsWeights) {
  const test::Scratch folder;
  const auto refused = [&](const std::filesystem::path& from) {
    Parameters parameters;
    return test::message_of<FileError>([&] { put_squeezenet_weights(from, parameters, "picture"); });
  };
  EXPECT_THAT(refused(folder / "none"), testing::HasSubstr("no such file or folder"));
  EXPECT_THAT(refused(folder.folder()), testing::HasSubstr("squeezenet0_conv0_weight.npy"));
  write_npy(folder / "squeezenet0_conv0_weight.npy", random_tensor({64, 3, 5, 5}, 1));
  write_npy(folder / "squeezenet0_conv0_bias.npy", random_tensor({64}, 1));
  EXPECT_THAT(refused(folder.folder()), testing::HasSubstr("convolution 0 has weights [64,3,5,5]"));
  Parameters parameters;
  EXPECT_THROW(put_picture_weights(folder.folder(), PictureSourceConfig{}, parameters), UsageError);
}

// Some of its many rectifiers change sides within any step, so the differences are rough.
TEST(SmallNet, GradientMatchesFiniteDifferences) {
  const PictureSourceConfig config{.picture_size = 32, .picture_channels = 16};
  test::check_gradients(
      [&](Parameters& p, const std::vector<Var>& in) { return (*make_picture_net(config, p, "picture"))(in[0]); },
      {random_tensor({1, 32, 32, 3}, 5)}, {.step = 2e-3, .tolerance = 8e-2, .per_input = 6});
}

TEST(PictureSource, GivesTheGridThatItPromises) {
  for (const PictureEncoder encoder : {PictureEncoder::small, PictureEncoder::squeezenet}) {
    for (const int size : {32, 47, 64, 160}) {
      const PictureSourceConfig config{
          .picture_encoder = encoder, .picture_size = size, .picture_channels = 16, .embedding = 8};
      Parameters parameters;
      const PictureSource source(config, parameters);
      const Picture picture = test::plain_picture(size, size, {10, 200, 30});
      const Picture* pictures[] = {&picture, &picture};
      const NoGrad quiet;
      const Var features = source.features(pictures);
      ASSERT_EQ(features.shape(), (Shape{2, config.grid() * config.grid(), config.channels()})) << size;
      ASSERT_EQ(source.regions(features).shape(), (Shape{2, config.grid() * config.grid(), 8}));
    }
  }
  Parameters parameters;
  const PictureSource source({.picture_size = 64, .picture_channels = 16}, parameters);
  const Picture other = test::plain_picture(63, 64, {});
  const Picture* pictures[] = {&other};
  test::expect_shape_error([&] { (void)source.features(pictures); }, "63x64", "64x64");
}

}  // namespace
}  // namespace fovea
