#include <cmath>

#include "attention/both_paths.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {
namespace {

using test::Attend;
using test::check_gradients;
using test::kBothPaths;
using test::random_tensor;
using Inputs = std::vector<Var>;

const Tensor q = random_tensor({2, 3, 4}, 1);
const Tensor k = random_tensor({2, 5, 4}, 2);
const Tensor v = random_tensor({2, 5, 2}, 3);

// The score of query i and key j of sequence 0, read back from sigmoid weights.
double score_of(const Score& score, std::int64_t i, std::int64_t j, const Tensor& queries = q, const Tensor& keys = k) {
  const Attended a =
      attend(queries, keys, keys, {.score = score, .normalizer = normalizer::Sigmoid{}, .want = {.weights = true}});
  const double w = a.weights.value().data()[i * keys.dim(1) + j];
  return std::log(w / (1 - w));
}

double dot(const Tensor& a, std::int64_t i, const Tensor& b, std::int64_t j) {
  double sum = 0;
  for (std::int64_t x = 0; x < a.dim(-1); ++x)
    sum += static_cast<double>(a.data()[i * a.dim(-1) + x]) * b.data()[j * b.dim(-1) + x];
  return sum;
}

TEST(Scores, DotFamilyIsWhatItsFormulaSays) {
  EXPECT_NEAR(score_of(score::Dot{}, 1, 2), dot(q, 1, k, 2), 1e-4);
  EXPECT_NEAR(score_of(score::Dot{.scale = 0.5F}, 1, 2), 0.5 * dot(q, 1, k, 2), 1e-4);
  EXPECT_NEAR(score_of(score::ScaledDot{}, 2, 4), dot(q, 2, k, 4) / 2, 1e-4);
  EXPECT_NEAR(score_of(score::Cosine{}, 0, 3), dot(q, 0, k, 3) / std::sqrt(dot(q, 0, q, 0) * dot(k, 3, k, 3)), 1e-4);
}

TEST(Scores, GeneralWithBiasesIsBiaffine) {
  const Tensor w = random_tensor({4, 4}, 5), a = random_tensor({4}, 6), b = random_tensor({4}, 7);
  double expected = 0.25 + dot(q, 1, a, 0) + dot(k, 2, b, 0);
  for (std::int64_t x = 0; x < 4; ++x) {
    for (std::int64_t y = 0; y < 4; ++y) {
      expected += static_cast<double>(q.data()[4 + x]) * w.data()[x * 4 + y] * k.data()[8 + y];
    }
  }
  EXPECT_NEAR(score_of(score::General{.w = w, .a = a, .b = b, .c = Tensor::of({1}, {0.25F})}, 1, 2), expected, 1e-3);
}

TEST(Scores, LocationReadsTheQueryAlone) {
  const Tensor w = random_tensor({7, 4}, 8);
  EXPECT_NEAR(score_of(score::Location{w}, 2, 3), dot(q, 2, w, 3), 1e-4);
}

struct Case {
  const char* name;
  std::function<Score(const Inputs&)> score;  // in[3] on are parameters
  std::vector<Tensor> parameters;
};

std::vector<Case> cases() {
  return {
      {"dot", [](const Inputs&) -> Score { return score::Dot{}; }, {}},
      {"scaled dot", [](const Inputs&) -> Score { return score::ScaledDot{.scale = 0.7F}; }, {}},
      {"cosine", [](const Inputs&) -> Score { return score::Cosine{.scale = 3}; }, {}},
      {"general",
       [](const Inputs& in) -> Score { return score::General{.w = in[3]}; },
       {random_tensor({4, 4}, 5, 0.5F)}},
      {"biaffine",
       [](const Inputs& in) -> Score { return score::General{.w = in[3], .a = in[4], .b = in[5], .c = in[6]}; },
       {random_tensor({4, 4}, 5, 0.5F), random_tensor({4}, 6), random_tensor({4}, 7), random_tensor({1}, 8)}},
      {"additive",
       [](const Inputs& in) -> Score { return score::Additive{.w = in[3], .u = in[4], .v = in[5], .b = in[6]}; },
       {random_tensor({6, 4}, 5, 0.5F), random_tensor({6, 4}, 6, 0.5F), random_tensor({6}, 7), random_tensor({6}, 8)}},
      {"coverage",
       [](const Inputs& in) -> Score {
         return score::Additive{.w = in[3], .u = in[4], .v = in[5], .coverage = in[6], .coverage_weight = in[7]};
       },
       {random_tensor({6, 4}, 5, 0.5F), random_tensor({6, 4}, 6, 0.5F), random_tensor({6}, 7), random_tensor({2, 5}, 8),
        random_tensor({6}, 9)}},
      {"concat",
       [](const Inputs& in) -> Score { return score::Concat{.w = in[3], .v = in[4]}; },
       {random_tensor({6, 8}, 5, 0.5F), random_tensor({6}, 7)}},
      {"location", [](const Inputs& in) -> Score { return score::Location{.w = in[3]}; }, {random_tensor({7, 4}, 5)}},
  };
}

TEST(Scores, GradientsMatchFiniteDifferences) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    std::vector<Tensor> inputs{q, k, v};
    inputs.insert(inputs.end(), c.parameters.begin(), c.parameters.end());
    for (const Attend by : kBothPaths) {
      check_gradients([&](const Inputs& in) { return by(in[0], in[1], in[2], {.score = c.score(in)}).context; },
                      inputs);
    }
    // Sigmoid also sees what is the same for all keys.
    check_gradients(
        [&](const Inputs& in) {
          return attend(in[0], in[1], in[2], {.score = c.score(in), .normalizer = normalizer::Sigmoid{}}).context;
        },
        inputs);
  }
}

TEST(Scores, ParametersServeHeadsPackedSideBySide) {
  const Tensor q4 = random_tensor({1, 3, 8}, 1), k4 = random_tensor({1, 4, 4}, 2), v4 = random_tensor({1, 4, 2}, 3);
  for (const Case& c : cases()) {
    if (std::string(c.name) == "coverage") continue;
    SCOPED_TRACE(c.name);
    std::vector<Tensor> inputs{q4, k4, v4};
    inputs.insert(inputs.end(), c.parameters.begin(), c.parameters.end());
    check_gradients(
        [&](const Inputs& in) {
          return attend(in[0], in[1], in[2], {.score = c.score(in), .heads = 2, .kv_heads = 1}).context;
        },
        inputs);
  }
}

TEST(Scores, KeysProjectedBeforehandGiveTheSame) {
  const Tensor w = random_tensor({6, 4}, 5), u = random_tensor({6, 4}, 6), vector = random_tensor({6}, 7);
  const Tensor projected = Tensor::zeros({2, 5, 6});
  for (std::int64_t r = 0; r < 10; ++r) {
    for (std::int64_t x = 0; x < 6; ++x) projected.data()[r * 6 + x] = static_cast<float>(dot(k, r, u, x));
  }
  const Tensor a = attend(q, k, v, {.score = score::Additive{.w = w, .u = u, .v = vector}}).context.value();
  const Tensor b = attend(q, projected, v, {.score = score::Additive{.w = w, .v = vector}}).context.value();
  test::expect_near(a, b, 1e-5);
}

// -|q - k|^2 / 2, by pairs with its own gradient, and the same from ops.
score::Pairwise near_by() {
  return {.score =
              [](auto query, auto key) {
                float sum = 0;
                for (std::size_t i = 0; i < key.size(); ++i) sum -= (query[i] - key[i]) * (query[i] - key[i]) / 2;
                return sum;
              },
          .gradient =
              [](auto query, auto key, float ds, auto dquery, auto dkey) {
                for (std::size_t i = 0; i < key.size(); ++i) {
                  dquery[i] -= ds * (query[i] - key[i]);
                  dkey[i] += ds * (query[i] - key[i]);
                }
              }};
}

TEST(Scores, OnesOwnByPairsIsTrained) {
  check_gradients([](const Inputs& in) { return attend(in[0], in[1], in[2], {.score = near_by()}).context; },
                  {q, k, v});
}

TEST(Scores, OnesOwnWithoutGradientServesUntilOneIsWanted) {
  score::Pairwise blind = near_by();
  blind.gradient = nullptr;
  EXPECT_NO_THROW((void)attend(q, k, v, {.score = blind}));
  const Var value = Var::parameter(v);
  EXPECT_NO_THROW(backward(sum(attend(q, k, value, {.score = blind}).context)));
  EXPECT_THROW((void)attend(Var::parameter(q), k, v, {.score = blind}), UsageError);
}

// scale * q k', as a user writes an op.
Var scaled_products(const Var& queries, const Var& keys, const Var& scale) {
  const std::int64_t n = queries.dim(0), m = keys.dim(0), d = queries.dim(1);
  const float* x = queries.value().data();
  const float* y = keys.value().data();
  const Tensor s = Tensor::zeros({n, m});
  for (std::int64_t at = 0; at < n * m * d; ++at) {
    const std::int64_t i = at / (m * d), j = at / d % m, f = at % d;
    s.data()[i * m + j] += scale.value().item() * x[i * d + f] * y[j * d + f];
  }
  return record(s, {queries, keys, scale}, [queries, keys, scale, n, m, d](const Tensor& ds) {
    const Tensor dq = Tensor::zeros(queries.shape()), dk = Tensor::zeros(keys.shape()),
                 dscale = Tensor::zeros(scale.shape());
    for (std::int64_t at = 0; at < n * m * d; ++at) {
      const std::int64_t i = at / (m * d), j = at / d % m, f = at % d;
      const float g = ds.data()[i * m + j], a = queries.value().data()[i * d + f], b = keys.value().data()[j * d + f];
      dq.data()[i * d + f] += g * scale.value().item() * b;
      dk.data()[j * d + f] += g * scale.value().item() * a;
      dscale.data()[0] += g * a * b;
    }
    queries.accumulate(dq);
    keys.accumulate(dk);
    scale.accumulate(dscale);
  });
}

TEST(Scores, OnesOwnByBlocksIsTrainedWithItsParameters) {
  const std::vector<std::int64_t> lengths{5, 3};
  const Tensor long_q = random_tensor({2, 40, 4}, 8);  // more than one block
  const auto by_block = [&](const Inputs& in) {
    return attend(in[0], in[1], in[2],
                  {.score = score::Block{.score = [](const Var& a, const Var& b,
                                                     auto p) { return scaled_products(a, b, p[0]); },
                                         .parameters = {in[3]}},
                   .lengths = lengths})
        .context;
  };
  const Tensor half = Tensor::of({1}, {0.5F});
  check_gradients(by_block, {long_q, k, v, half}, {.per_input = 12});
  test::expect_near(by_block({long_q, k, v, half}).value(), attend(long_q, k, v, {.lengths = lengths}).context.value(),
                    1e-5);
}

TEST(Scores, OnesOwnOfTheWrongShapeIsNamed) {
  const score::Block wrong{.score = [](const Var& a, const Var&, auto) { return a; }, .parameters = {}};
  EXPECT_THROW((void)attend(q, k, v, {.score = wrong}), ShapeError);
}

TEST(Scores, ParametersThatDoNotFitAreNamed) {
  const auto message = [&](const Score& score) -> std::string {
    try {
      (void)attend(q, k, v, {.score = score});
    } catch (const ShapeError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(score::General{.w = Tensor::zeros({4, 3})}), "attend: score W [4,3]: expected [4,4]");
  EXPECT_EQ(message(score::General{}), "attend: score W is missing: expected [4,4]");
  EXPECT_EQ(message(score::Additive{.w = Tensor::zeros({6, 4}), .u = Tensor::zeros({5, 4}), .v = Tensor::zeros({6})}),
            "attend: score U [5,4]: expected [6,4]");
  EXPECT_EQ(message(score::Location{.w = Tensor::zeros({4, 4})}),
            "attend: score W [4,4]: expected [L,4] with L at least 5, the number of keys");
}

TEST(Scores, AnAdditiveActivationOtherThanTanhAndLeakyReluIsNamed) {
  const Tensor x = random_tensor({1, 3, 4}, 1);
  const Tensor v = random_tensor({4}, 2);
  for (const Activation f : {Activation::tanh, Activation::leaky_relu}) {
    EXPECT_NO_THROW((void)attend(x, {.score = score::Additive{.v = v, .activation = f}}));
  }
  for (const Activation f :
       {Activation::none, Activation::relu, Activation::gelu, Activation::swish, Activation::sigmoid}) {
    try {
      (void)attend(x, {.score = score::Additive{.v = v, .activation = f}});
      FAIL() << "nothing was thrown";
    } catch (const UsageError& error) {
      EXPECT_STREQ(error.what(), "attend: the additive score's activation must be tanh or leaky_relu");
    }
  }
}

}  // namespace
}  // namespace fovea
