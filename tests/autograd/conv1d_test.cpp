#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/convolution.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "support/gradcheck.hpp"

namespace fovea {
namespace {

using test::random_tensor;
using Lengths = std::vector<std::int64_t>;

// y_t = b + sum over the window's real steps, in double.
double plain(const Tensor& x, const Tensor& w, const Tensor& b, std::int64_t seq, std::int64_t t, std::int64_t o,
             std::int64_t length, bool causal) {
  const std::int64_t c = x.dim(2);
  const std::int64_t taps = w.dim(0) / c;
  const std::int64_t left = causal ? taps - 1 : (taps - 1) / 2;
  double sum = b.data()[o];
  for (std::int64_t k = 0; k < taps; ++k) {
    const std::int64_t at = t - left + k;
    if (at < 0 || at >= length) continue;
    for (std::int64_t i = 0; i < c; ++i) {
      sum += x.data()[(seq * x.dim(1) + at) * c + i] * w.data()[(k * c + i) * w.dim(1) + o];
    }
  }
  return sum;
}

TEST(Conv1d, ComputesWhatTheFormulaSays) {
  const Lengths lengths{5, 0, 1, 3};
  for (const std::int64_t taps : {1, 2, 3, 4, 7}) {
    for (const bool causal : {false, true}) {
      const Conv1dOptions how{.padding = causal ? TimePadding::causal : TimePadding::same, .lengths = lengths};
      const Tensor x = random_tensor({4, 5, 3}, 1);
      const Tensor w = random_tensor({taps * 3, 18}, 2);
      const Tensor b = random_tensor({18}, 3);
      const Var y = conv1d(x, w, b, how);
      const Var gated = conv1d_glu(x, w, b, how);
      for (std::int64_t seq = 0; seq < 4; ++seq) {
        const std::int64_t length = lengths[static_cast<std::size_t>(seq)];
        for (std::int64_t t = 0; t < 5; ++t) {
          for (std::int64_t o = 0; o < 18; ++o) {
            const double want = t < length ? plain(x, w, b, seq, t, o, length, causal) : 0.0;
            EXPECT_NEAR(y.value().data()[(seq * 5 + t) * 18 + o], want, 1e-5) << taps << causal << seq << t << o;
            if (o >= 9) continue;
            const double g = plain(x, w, b, seq, t, o + 9, length, causal);
            EXPECT_NEAR(gated.value().data()[(seq * 5 + t) * 9 + o], want / (1 + std::exp(-g)), 1e-5);
          }
        }
      }
    }
  }
}

TEST(Conv1d, GradientMatchesFiniteDifferences) {
  const Lengths lengths{4, 0, 1, 3};
  for (const std::int64_t d : {1, 7, 8, 9, 33}) {
    for (const bool causal : {false, true}) {
      const Conv1dOptions how{.padding = causal ? TimePadding::causal : TimePadding::same, .lengths = lengths};
      const std::int64_t taps = d == 8 ? 4 : 3;
      test::check_gradients(
          [&](const auto& in) { return conv1d_glu(in[0], in[1], in[2], how); },
          {random_tensor({4, 4, 3}, 1), random_tensor({taps * 3, 2 * d}, 2, 0.5F), random_tensor({2 * d}, 3)});
      test::check_gradients([&](const auto& in) { return conv1d(in[0], in[1], in[2], how); },
                            {random_tensor({4, 4, 3}, 1), random_tensor({taps * 3, d}, 2), random_tensor({d}, 3)});
    }
  }
}

TEST(Conv1d, ASequencesResultDoesNotDependOnTheOthersOrOnPadding) {
  const Lengths lengths{6, 2, 0, 5};
  const Tensor x = random_tensor({4, 6, 9}, 1);
  x.slice(0, 1, 2).slice(1, 2, 6).fill(std::numeric_limits<float>::quiet_NaN());
  const Tensor w = random_tensor({27, 22}, 2);
  const Tensor b = random_tensor({22}, 3);
  const Var y = conv1d_glu(x, w, b, {.lengths = lengths});
  for (std::int64_t seq = 0; seq < 4; ++seq) {
    const std::int64_t length = lengths[static_cast<std::size_t>(seq)];
    const Var alone = conv1d_glu(x.slice(0, seq, seq + 1).slice(1, 0, length), w, b);
    EXPECT_TRUE(std::ranges::equal(alone.value().values(),
                                   y.value().slice(0, seq, seq + 1).slice(1, 0, length).contiguous().values()));
  }
}

TEST(Conv1d, ShapesThatDoNotFitAreNamed) {
  EXPECT_THROW((void)conv1d(random_tensor({1, 3, 2}, 1), random_tensor({4, 2}, 2), {}), ShapeError);
  const auto message = [](const Var& x, const Var& w, const Var& b, bool glu) -> std::string {
    try {
      (void)(glu ? conv1d_glu(x, w, b) : conv1d(x, w, b));
    } catch (const ShapeError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  const Tensor x = Tensor::zeros({2, 5, 3});
  EXPECT_EQ(message(x, Tensor::zeros({8, 4}), Tensor::zeros({4}), false),
            "conv1d: weights [8,4] on an input [2,5,3]; [K C,O] on [B,T,C] is needed");
  EXPECT_EQ(message(x, Tensor::zeros({9, 3}), Tensor::zeros({3}), true),
            "conv1d_glu: weights [9,3] on an input [2,5,3]; [K C,2 D] on [B,T,C] is needed");
  EXPECT_EQ(message(x, Tensor::zeros({9, 4}), Tensor::zeros({2}), true), "conv1d_glu: bias [2] where [4] is needed");
}

}  // namespace
}  // namespace fovea
