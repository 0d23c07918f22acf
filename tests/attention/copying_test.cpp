// Copying in logarithms: against the mixture of probabilities, by its gradients, and where numbers are extreme.
#include "fovea/attention/copying.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "support/parameter_gradcheck.hpp"

namespace fovea {
namespace {

using test::check_gradients;
using test::random_tensor;

constexpr std::int64_t kBatch = 2, kSteps = 3, kKeys = 5, kWords = 7;
const std::vector<std::int64_t> kLengths{5, 3};
// Words 7 and 8 are of the source alone; positions past a length must not count.
const std::vector<std::int32_t> kSource{4, 7, 4, 8, 3, 5, 7, 3, 4, 4};
const std::vector<std::int32_t> kTargets{4, 8, 6, 7, 4, 0};  // the last is padding; the second 4 is not in its source

Tensor weights(unsigned seed) {
  Tensor w = softmax(random_tensor({kBatch, kSteps, kKeys}, seed)).value();
  for (std::int64_t t = 0; t < kSteps; ++t) {  // nothing past a length, as attention has it
    float* row = w.data() + (kSteps + t) * kKeys;
    const float sum = row[0] + row[1] + row[2];
    for (int j = 0; j < 5; ++j) row[j] = j < 3 ? row[j] / sum : 0;
  }
  return w;
}

// The probabilities of all words, from the plain formula.
std::vector<double> reference(const Tensor& logits, const Tensor& gate, const Tensor& w, std::int64_t row) {
  std::vector<double> p(kWords + 2, 0.0);
  double sum = 0;
  for (std::int64_t v = 0; v < kWords; ++v) sum += std::exp(logits.data()[row * kWords + v]);
  const double g = 1 / (1 + std::exp(-gate.data()[row]));
  for (std::int64_t v = 0; v < kWords; ++v)
    p[static_cast<std::size_t>(v)] = g * std::exp(logits.data()[row * kWords + v]) / sum;
  const std::int64_t b = row / kSteps;
  for (std::int64_t j = 0; j < kLengths[static_cast<std::size_t>(b)]; ++j) {
    p[static_cast<std::size_t>(kSource[static_cast<std::size_t>(b * kKeys + j)])] +=
        (1 - g) * w.data()[row * kKeys + j];
  }
  return p;
}

// x is its own logits: the output layer is the identity.
Tensor identity() {
  Tensor one = Tensor::zeros({kWords, kWords});
  for (std::int64_t v = 0; v < kWords; ++v) one.data()[v * kWords + v] = 1;
  return one;
}

TEST(Copying, TheLossIsThatOfTheMixtureOfProbabilities) {
  const Tensor x = random_tensor({kBatch * kSteps, kWords}, 1), gate = random_tensor({kBatch, kSteps}, 2),
               w = weights(3);
  std::vector<float> generated(kTargets.size());
  const CrossEntropy cost = mixture_cross_entropy(
      x, identity(), {}, copy_shares(gate, w, {kSource, kLengths}, kTargets), kTargets, {}, generated);
  double nll = 0;
  for (std::size_t i = 0; i + 1 < kTargets.size(); ++i) {
    const auto p = reference(x, gate, w, static_cast<std::int64_t>(i));
    const double wanted = p[static_cast<std::size_t>(kTargets[i])];
    nll -= std::log(wanted);
    const double g = 1 / (1 + std::exp(-gate.data()[i]));
    double sum = 0;
    for (std::int64_t v = 0; v < kWords; ++v) sum += std::exp(x.data()[static_cast<std::int64_t>(i) * kWords + v]);
    const double made =
        kTargets[i] < kWords ? g * std::exp(x.data()[static_cast<std::int64_t>(i) * kWords + kTargets[i]]) / sum : 0;
    EXPECT_NEAR(generated[i], made / wanted, 1e-5) << i;
  }
  EXPECT_EQ(cost.tokens, 5);
  EXPECT_NEAR(cost.nll, nll, 1e-4);
  EXPECT_NEAR(cost.loss.value().item(), nll, 1e-4);
  EXPECT_EQ(generated[5], 0) << "padding";
  EXPECT_EQ(generated[1], 0) << "a word that only the source has";
  EXPECT_EQ(generated[4], 1) << "a word that the source does not have";
}

TEST(Copying, OneStepOverAllWordsIsTheSameMixture) {
  const Tensor x = random_tensor({kBatch * kSteps, kWords}, 1), gate = random_tensor({kBatch, kSteps}, 2),
               w = weights(3);
  std::vector<float> mass(kWords + 2, 0.0F);
  for (std::int64_t row = 0; row < kBatch * kSteps; ++row) {
    const auto b = static_cast<std::size_t>(row / kSteps);
    std::vector<float> p(kWords + 2);
    const Tensor log_p = log_softmax(x).value();
    std::copy_n(log_p.data() + row * kWords, kWords, p.begin());
    const auto length = static_cast<std::size_t>(kLengths[b]);
    mix_copied(gate.data()[row], {w.data() + row * kKeys, length}, std::span(kSource).subspan(b * kKeys, length),
               kWords, p, mass);
    const auto expected = reference(x, gate, w, row);
    double sum = 0;
    for (std::size_t v = 0; v < p.size(); ++v) {
      EXPECT_NEAR(std::exp(p[v]), expected[v], 1e-5);
      sum += std::exp(p[v]);
    }
    EXPECT_NEAR(sum, 1, 1e-5);
    for (const float m : mass) EXPECT_EQ(m, 0);
  }
}

TEST(Copying, GradientsMatchFiniteDifferences) {
  for (const float smoothing : {0.0F, 0.2F}) {
    check_gradients(
        [&](const std::vector<Var>& in) {
          const Mixture mixed = copy_shares(in[2], in[3], {kSource, kLengths}, kTargets);
          return mixture_cross_entropy(in[0], in[1], in[4], mixed, kTargets, {.label_smoothing = smoothing}).loss;
        },
        {random_tensor({kBatch * kSteps, 4}, 1), random_tensor({kWords, 4}, 2), random_tensor({kBatch, kSteps}, 3),
         weights(4), random_tensor({kWords}, 5)},
        {.step = 5e-3});
  }
}

TEST(Copying, AttendedSumsAndTheirGradients) {
  const Tensor rest = random_tensor({kBatch, kSteps}, 1), values = random_tensor({kBatch, kKeys}, 2), w = weights(3);
  const Tensor y = add_attended(rest, w, values, kLengths).value();
  for (std::int64_t i = 0; i < kBatch * kSteps; ++i) {
    double sum = rest.data()[i];
    for (std::int64_t j = 0; j < kLengths[static_cast<std::size_t>(i / kSteps)]; ++j) {
      sum += w.data()[i * kKeys + j] * values.data()[i / kSteps * kKeys + j];
    }
    EXPECT_NEAR(y.data()[i], sum, 1e-6);
  }
  check_gradients([&](const std::vector<Var>& in) { return add_attended(in[0], in[1], in[2], kLengths); },
                  {rest, w, values});
}

// A gate that is shut, weights that are exactly 0, logits of 1e4: nothing becomes NaN, and no gradient does.
TEST(Copying, NothingBecomesNaN) {
  for (const float g : {-200.0F, 0.0F, 200.0F}) {
    for (const float scale : {1.0F, 1e4F}) {
      const Var x = Var::parameter(random_tensor({kBatch * kSteps, kWords}, 1, scale));
      const Var gate = Var::parameter(Tensor::full({kBatch, kSteps}, g));
      Tensor hard = Tensor::zeros({kBatch, kSteps, kKeys});
      for (std::int64_t i = 0; i < kBatch * kSteps; ++i) hard.data()[i * kKeys] = 1;
      const Var w = Var::parameter(hard);
      const CrossEntropy cost =
          mixture_cross_entropy(x, identity(), {}, copy_shares(gate, w, {kSource, kLengths}, kTargets), kTargets);
      EXPECT_TRUE(std::isfinite(cost.loss.value().item()));
      backward(cost.loss);
      for (const Var& leaf : {x, gate, w}) {
        for (const float d : leaf.grad().values()) EXPECT_TRUE(std::isfinite(d));
      }
      std::vector<float> p(kWords + 2, -1e4F), mass(kWords + 2, 0.0F);
      mix_copied(g, {hard.data(), 5}, std::span(kSource).first(5), kWords, p, mass);
      for (const float v : p) EXPECT_FALSE(std::isnan(v));
    }
  }
}

TEST(Copying, ShapesThatDoNotFitAreNamed) {
  const Tensor w = weights(1), gate = Tensor::zeros({kBatch, kSteps});
  EXPECT_THROW((void)copy_shares(gate, w, {std::span(kSource).first(3), kLengths}, kTargets), ShapeError);
  EXPECT_THROW((void)add_attended(gate, w, Tensor::zeros({1, 1}), kLengths), ShapeError);
  const Mixture mixed = copy_shares(gate, w, {kSource, kLengths}, kTargets);
  EXPECT_THROW(
      (void)mixture_cross_entropy(random_tensor({6, kWords}, 1), identity(), {}, mixed, kTargets, {.r_drop = 1}),
      UsageError);
}

TEST(CopyMixture, IsADistributionOverKnownAndCopiedWords) {
  // Words 0 and 1 are known; the source says 1 2 2 and padding.
  const std::vector<std::int32_t> source{1, 2, 2, -1};
  const Tensor y = copy_mixture(Tensor::of({1, 1, 2}, {0.25F, 0.75F}), Tensor::of({1, 1}, {0.5F}),
                                Tensor::of({1, 1, 4}, {0.5F, 0.25F, 0.25F, 0.0F}), {source}, 3)
                       .value();
  EXPECT_FLOAT_EQ(y.data()[0], 0.125F);
  EXPECT_FLOAT_EQ(y.data()[1], 0.375F + 0.25F);
  EXPECT_FLOAT_EQ(y.data()[2], 0.25F);
  // A length hides what follows as a negative id does.
  const std::vector<std::int32_t> whole{1, 2, 2, 0};
  const std::vector<std::int64_t> lengths{3};
  const Tensor same = copy_mixture(Tensor::of({1, 1, 2}, {0.25F, 0.75F}), Tensor::of({1, 1}, {0.5F}),
                                   Tensor::of({1, 1, 4}, {0.5F, 0.25F, 0.25F, 0.5F}), {whole, lengths}, 3)
                          .value();
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ(same.data()[i], y.data()[i]);
}

TEST(CopyMixture, GradientsMatchFiniteDifferences) {
  const std::vector<std::int32_t> source{1, 4, 4, -1, 0, 2, 5, 3};
  check_gradients([&](const auto& in) { return copy_mixture(in[0], in[1], in[2], {source}, 6); },
                  {random_tensor({2, 3, 4}, 1), random_tensor({2, 3}, 2), random_tensor({2, 3, 4}, 3)});
  const std::vector<std::int32_t> far{1, 4, 4, 6, 0, 2, 5, 3};
  EXPECT_THROW((void)copy_mixture(Tensor::zeros({2, 3, 4}), Tensor::zeros({2, 3}), Tensor::zeros({2, 3, 4}), {far}, 6),
               UsageError);
}

TEST(CopyGate, GradientsMatchFiniteDifferences) {
  check_gradients(
      [](Parameters& p, const auto& in) {
        return CopyGate(p, "gate", {.context_dim = 4, .state_dim = 2, .input_dim = 5})(in[0], in[1], in[2]);
      },
      {random_tensor({2, 3, 4}, 1), random_tensor({2, 3, 2}, 2), random_tensor({2, 3, 5}, 3)});
}

// The logit over a memory is that of the context that the weights make of it.
TEST(CopyGate, TheLogitOfAMemoryIsThatOfItsContext) {
  Parameters p(3);
  const CopyGate gate(p, "gate", {.context_dim = 4, .state_dim = 2, .input_dim = 5});
  const Tensor states = random_tensor({kBatch, kSteps, 2}, 1), inputs = random_tensor({kBatch, kSteps, 5}, 2);
  const Tensor rows = random_tensor({kBatch, kKeys, 4}, 3), w = weights(4);
  const Var logit = gate.logit(states, inputs, w, rows, kLengths);
  const Var direct = gate(matmul(Var(w), Var(rows)), states, inputs);
  for (std::int64_t i = 0; i < kBatch * kSteps; ++i) {
    EXPECT_NEAR(sigmoid(logit).value().data()[i], direct.value().data()[i], 1e-6);
  }
}

}  // namespace
}  // namespace fovea
