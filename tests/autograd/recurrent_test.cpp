#include "fovea/recurrent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "fovea/threads.hpp"
#include "kernels/kernels.hpp"
#include "support/gradcheck.hpp"

namespace fovea {
namespace {

using test::random_tensor;
using Lengths = std::vector<std::int64_t>;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

GruWeights gru_weights(std::int64_t in, std::int64_t h, unsigned seed) {
  const float scale = 0.5F;
  return {random_tensor({in, 3 * h}, seed, scale), random_tensor({h, 3 * h}, seed + 1, scale),
          random_tensor({3 * h}, seed + 2, scale), random_tensor({h}, seed + 3, scale)};
}

LstmWeights lstm_weights(std::int64_t in, std::int64_t h, unsigned seed) {
  const float scale = 0.5F;
  return {random_tensor({in, 4 * h}, seed, scale), random_tensor({h, 4 * h}, seed + 1, scale),
          random_tensor({4 * h}, seed + 2, scale)};
}

// One sequence, one value at a time, in double: the formulas of the papers.
std::vector<std::vector<double>> plain_gru(const float* x, std::int64_t steps, bool reverse, const GruWeights& w,
                                           std::vector<double> state) {
  const std::int64_t in = w.input.dim(0);
  const std::int64_t h = w.state.dim(0);
  std::vector<std::vector<double>> states(static_cast<std::size_t>(steps));
  for (std::int64_t s = 0; s < steps; ++s) {
    const std::int64_t t = reverse ? steps - 1 - s : s;
    const auto from_input = [&](std::int64_t column) {
      double sum = w.bias.value().data()[column];
      for (std::int64_t i = 0; i < in; ++i) sum += x[t * in + i] * w.input.value().data()[i * 3 * h + column];
      return sum;
    };
    const auto from_state = [&](std::int64_t column) {
      double sum = 0;
      for (std::int64_t i = 0; i < h; ++i) {
        sum += state[static_cast<std::size_t>(i)] * w.state.value().data()[i * 3 * h + column];
      }
      return sum;
    };
    std::vector<double> next(static_cast<std::size_t>(h));
    for (std::int64_t j = 0; j < h; ++j) {
      const double r = sigmoid(from_input(j) + from_state(j));
      const double z = sigmoid(from_input(h + j) + from_state(h + j));
      const double n = std::tanh(from_input(2 * h + j) + r * (from_state(2 * h + j) + w.state_bias.value().data()[j]));
      next[static_cast<std::size_t>(j)] = (1 - z) * n + z * state[static_cast<std::size_t>(j)];
    }
    states[static_cast<std::size_t>(t)] = state = next;
  }
  return states;
}

TEST(Gru, ComputesWhatTheFormulasSay) {
  const Lengths lengths{4, 0, 1, 3};
  for (const std::int64_t h : {1, 7, 8, 9, 33}) {
    for (const bool reverse : {false, true}) {
      const Tensor x = random_tensor({4, 4, 5}, 1);
      const GruWeights w = gru_weights(5, h, 2);
      const Tensor first = random_tensor({4, h}, 3);
      const Recurrent run = gru(x, w, {.lengths = lengths, .reverse = reverse}, first);
      for (std::int64_t b = 0; b < 4; ++b) {
        const std::int64_t length = lengths[static_cast<std::size_t>(b)];
        const float* begin = first.data() + b * h;
        const auto expected = plain_gru(x.data() + b * 20, length, reverse, w, {begin, begin + h});
        const std::int64_t end = reverse ? 0 : length - 1;
        for (std::int64_t j = 0; j < h; ++j) {
          for (std::int64_t t = 0; t < 4; ++t) {
            const double want = t < length ? expected[static_cast<std::size_t>(t)][static_cast<std::size_t>(j)] : 0.0;
            EXPECT_NEAR(run.states.value().data()[(b * 4 + t) * h + j], want, 1e-5);
          }
          const double want =
              length > 0 ? expected[static_cast<std::size_t>(end)][static_cast<std::size_t>(j)] : begin[j];
          EXPECT_NEAR(run.last.value().data()[b * h + j], want, 1e-5);
        }
      }
    }
  }
}

// All outputs as one value, so that the checker reaches each.
Var joined(const Recurrent& run) {
  Var total = add(sum(run.states), sum(run.last));
  return run.last_cell ? add(total, sum(run.last_cell)) : total;
}

TEST(Gru, GradientMatchesFiniteDifferences) {
  const Lengths lengths{3, 0, 1, 2};
  for (const std::int64_t h : {1, 7, 8, 9, 33}) {
    for (const bool reverse : {false, true}) {
      const GruWeights w = gru_weights(3, h, 5);
      const RecurrentOptions how{.lengths = lengths, .reverse = reverse};
      const std::vector<Tensor> inputs{
          random_tensor({4, 3, 3}, 1), w.input.value(),         w.state.value(), w.bias.value(),
          w.state_bias.value(),        random_tensor({4, h}, 9)};
      test::check_gradients(
          [&](const auto& in) {
            return gru(in[0], {in[1], in[2], in[3], in[4]}, how, in[5]).states;
          },
          inputs);
      test::check_gradients(
          [&](const auto& in) {
            return gru(in[0], {in[1], in[2], in[3], in[4]}, how, in[5]).last;
          },
          inputs);
      test::check_gradients(
          [&](const auto& in) {
            return joined(gru(in[0], {in[1], in[2], in[3], in[4]}, how, in[5]));
          },
          inputs);
    }
  }
}

TEST(Gru, GradientMatchesFiniteDifferencesWithoutPaddingOrFirstState) {
  const GruWeights w = gru_weights(3, 9, 5);
  for (const bool time_major : {false, true}) {
    test::check_gradients(
        [&](const auto& in) {
          return gru(in[0], {in[1], in[2], in[3], in[4]}, {.time_major = time_major}).states;
        },
        {random_tensor({2, 4, 3}, 1), w.input.value(), w.state.value(), w.bias.value(), w.state_bias.value()});
  }
}

TEST(Gru, WeightsMayBeTransposed) {
  test::check_gradients(
      [](const std::vector<Var>& in) {
        return gru(in[0], {transpose(in[1], 0, 1), transpose(in[2], 0, 1), in[3], in[4]}, {}).states;
      },
      {random_tensor({2, 3, 5}, 1), random_tensor({12, 5}, 2, 0.5F), random_tensor({12, 4}, 3, 0.5F),
       random_tensor({12}, 4), random_tensor({4}, 5)});
}

TEST(Lstm, GradientMatchesFiniteDifferences) {
  const Lengths lengths{3, 0, 1, 2};
  for (const std::int64_t h : {1, 7, 8, 9, 33}) {
    for (const bool reverse : {false, true}) {
      const LstmWeights w = lstm_weights(3, h, 5);
      const RecurrentOptions how{.lengths = lengths, .reverse = reverse};
      const std::vector<Tensor> inputs{
          random_tensor({4, 3, 3}, 1), w.input.value(),          w.state.value(), w.bias.value(),
          random_tensor({4, h}, 9),    random_tensor({4, h}, 10)};
      const auto run = [&](const auto& in) { return lstm(in[0], {in[1], in[2], in[3]}, how, in[4], in[5]); };
      test::check_gradients([&](const auto& in) { return run(in).states; }, inputs);
      test::check_gradients([&](const auto& in) { return run(in).last; }, inputs);
      test::check_gradients([&](const auto& in) { return run(in).last_cell; }, inputs);
      if (h == 9) test::check_gradients([&](const auto& in) { return joined(run(in)); }, inputs);
    }
  }
}

TEST(Lstm, GradientMatchesFiniteDifferencesWithoutPaddingOrFirstState) {
  const LstmWeights w = lstm_weights(3, 9, 5);
  test::check_gradients(
      [&](const auto& in) {
        return lstm(in[0], {in[1], in[2], in[3]}).states;
      },
      {random_tensor({2, 4, 3}, 1), w.input.value(), w.state.value(), w.bias.value()});
}

Tensor columns(const Tensor& t, std::int64_t begin, std::int64_t end) {
  return t.slice(-1, begin, end).contiguous();
}

void expect_equal(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_TRUE(std::ranges::equal(a.contiguous().values(), b.contiguous().values()));
}

TEST(Recurrent, BothDirectionsAreTheTwoRunsSideBySide) {
  const Lengths lengths{5, 2, 0};
  const Tensor x = random_tensor({3, 5, 4}, 1);
  const Tensor first = random_tensor({3, 14}, 2);
  const Tensor cell = random_tensor({3, 14}, 3);
  const GruWeights gf = gru_weights(4, 7, 10);
  const GruWeights gb = gru_weights(4, 7, 20);
  const Recurrent both = bidirectional_gru(x, gf, gb, {.lengths = lengths}, first);
  const Recurrent f = gru(x, gf, {.lengths = lengths}, columns(first, 0, 7));
  const Recurrent b = gru(x, gb, {.lengths = lengths, .reverse = true}, columns(first, 7, 14));
  expect_equal(columns(both.states.value(), 0, 7), f.states.value());
  expect_equal(columns(both.states.value(), 7, 14), b.states.value());
  expect_equal(columns(both.last.value(), 0, 7), f.last.value());
  expect_equal(columns(both.last.value(), 7, 14), b.last.value());
  const LstmWeights lf = lstm_weights(4, 7, 30);
  const LstmWeights lb = lstm_weights(4, 7, 40);
  const Recurrent two = bidirectional_lstm(x, lf, lb, {.lengths = lengths}, first, cell);
  const Recurrent back =
      lstm(x, lb, {.lengths = lengths, .reverse = true}, columns(first, 7, 14), columns(cell, 7, 14));
  expect_equal(columns(two.states.value(), 7, 14), back.states.value());
  expect_equal(columns(two.last.value(), 7, 14), back.last.value());
  expect_equal(columns(two.last_cell.value(), 7, 14), back.last_cell.value());
}

TEST(Recurrent, GradientOfBothDirectionsMatchesFiniteDifferences) {
  const Lengths lengths{3, 1};
  const GruWeights f = gru_weights(3, 5, 5);
  const GruWeights b = gru_weights(3, 5, 15);
  test::check_gradients(
      [&](const auto& in) {
        const Recurrent run = bidirectional_gru(in[0], {in[1], in[2], f.bias, f.state_bias},
                                                {in[3], in[4], b.bias, in[5]}, {.lengths = lengths}, in[6]);
        return add(sum(run.states), sum(run.last));
      },
      {random_tensor({2, 3, 3}, 1), f.input.value(), f.state.value(), b.input.value(), b.state.value(),
       b.state_bias.value(), random_tensor({2, 10}, 7)});
  const LstmWeights lf = lstm_weights(3, 5, 5);
  const LstmWeights lb = lstm_weights(3, 5, 15);
  test::check_gradients(
      [&](const auto& in) {
        return bidirectional_lstm(in[0], {in[1], in[2], lf.bias}, {in[3], in[4], in[5]}, {}).states;
      },
      {random_tensor({2, 3, 3}, 1), lf.input.value(), lf.state.value(), lb.input.value(), lb.state.value(),
       lb.bias.value()});
}

TEST(Recurrent, AConstantIsAddedAtEveryStep) {
  const Lengths lengths{3, 1};
  const GruWeights w = gru_weights(3, 5, 5);
  const LstmWeights l = lstm_weights(3, 5, 15);
  // As an input that is 1 at every step and has one weight.
  const Tensor x = random_tensor({2, 3, 3}, 1);
  const Tensor constant = random_tensor({1, 15}, 2);
  const Tensor wider = Tensor::full({2, 3, 4}, 1.0F);
  wider.slice(2, 0, 3).copy_from(x);
  const Tensor weights = Tensor::empty({4, 15});
  weights.slice(0, 0, 3).copy_from(w.input.value());
  weights.slice(0, 3, 4).copy_from(constant);
  const Tensor both = Tensor::empty({2, 15});
  for (std::int64_t b = 0; b < 2; ++b) both.slice(0, b, b + 1).copy_from(constant);
  const Recurrent a = gru(x, w, {.lengths = lengths, .constant = both});
  const Recurrent b = gru(wider, {weights, w.state, w.bias, w.state_bias}, {.lengths = lengths});
  for (std::int64_t i = 0; i < a.states.size(); ++i) {
    EXPECT_NEAR(a.states.value().data()[i], b.states.value().data()[i], 1e-6);
  }
  test::check_gradients([&](const auto& in) { return gru(x, w, {.lengths = lengths, .constant = in[0]}).states; },
                        {random_tensor({2, 15}, 3)});
  test::check_gradients([&](const auto& in) { return lstm(x, l, {.constant = in[0], .reverse = true}).states; },
                        {random_tensor({2, 20}, 3)});
  test::check_gradients([&](const auto& in) { return bidirectional_gru(x, w, w, {.constant = in[0]}).states; },
                        {random_tensor({2, 30}, 3)});
}

TEST(Recurrent, TimeMajorIsTheSameTransposed) {
  const Lengths lengths{5, 2, 4};
  const Tensor x = random_tensor({3, 5, 4}, 1);
  const GruWeights w = gru_weights(4, 9, 2);
  const Recurrent a = gru(x, w, {.lengths = lengths});
  const Recurrent b = gru(x.transpose(0, 1), w, {.lengths = lengths, .time_major = true});
  expect_equal(a.states.value(), b.states.value().transpose(0, 1));
  expect_equal(a.last.value(), b.last.value());
}

// Gradients included: the whole run of sequence 2 alone and among others, with any number of threads.
TEST(Recurrent, ASequencesResultDoesNotDependOnTheOthers) {
  const std::int64_t batch = 37;
  Lengths lengths(batch);
  for (std::size_t b = 0; b < lengths.size(); ++b) lengths[b] = static_cast<std::int64_t>((b * 5 + 1) % 7);
  const Tensor x = random_tensor({batch, 6, 10}, 1);
  const Tensor dy = random_tensor({batch, 6, 33}, 2);
  const int before = threads();
  for (const kernels::Table* table : kernels::available()) {
    const kernels::ScopedKernels scope(*table);
    for (const int count : {1, 2, 3}) {
      set_threads(count);
      const GruWeights g = gru_weights(10, 33, 3);
      const LstmWeights l = lstm_weights(10, 33, 4);
      const Var all = Var::parameter(x);
      const Recurrent run = gru(all, g, {.lengths = lengths, .reverse = true});
      const Recurrent run_lstm = lstm(all, l, {.lengths = lengths});
      backward(run.states, dy);
      for (const std::int64_t b : {2, 17, 36}) {
        const std::int64_t length = lengths[static_cast<std::size_t>(b)];
        const Var one = Var::parameter(x.slice(0, b, b + 1).slice(1, 0, length).contiguous());
        const Recurrent alone = gru(one, g, {.reverse = true});
        expect_equal(alone.states.value(), run.states.value().slice(0, b, b + 1).slice(1, 0, length));
        expect_equal(lstm(one, l).last_cell.value(), run_lstm.last_cell.value().slice(0, b, b + 1));
        backward(alone.states, dy.slice(0, b, b + 1).slice(1, 0, length).contiguous());
        expect_equal(one.grad(), all.grad().slice(0, b, b + 1).slice(1, 0, length));
      }
    }
  }
  set_threads(before);
}

TEST(Recurrent, StepByStepIsTheSameRun) {
  const Tensor x = random_tensor({5, 3, 4}, 1);
  const GruWeights g = gru_weights(4, 9, 2);
  const LstmWeights l = lstm_weights(4, 9, 3);
  const Tensor first = random_tensor({5, 9}, 4);
  const Tensor constant = random_tensor({5, 27}, 5);
  const Recurrent all_gru = gru(x, g, {.constant = constant}, first);
  const Recurrent all_lstm = lstm(x, l, {}, first);
  const RecurrentStepper gru_cell(g);
  const RecurrentStepper lstm_cell(l);
  const Tensor state = first.clone();
  const Tensor lstm_state = first.clone();
  const Tensor cell = Tensor::zeros({5, 9});
  for (std::int64_t t = 0; t < 3; ++t) {
    const Tensor now = x.select(1, t).contiguous();
    gru_cell.step(now, state, {}, constant);
    lstm_cell.step(now, lstm_state, cell);
    expect_equal(state, all_gru.states.value().select(1, t));
    expect_equal(lstm_state, all_lstm.states.value().select(1, t));
  }
  expect_equal(cell, all_lstm.last_cell.value());
  EXPECT_THROW(gru_cell.step(Tensor::zeros({5, 3}), state), ShapeError);
  EXPECT_THROW(lstm_cell.step(Tensor::zeros({5, 4}), lstm_state), ShapeError);
}

TEST(Recurrent, PaddingNeverChangesTheResult) {
  const Lengths lengths{2, 0};
  const Tensor x = random_tensor({2, 4, 3}, 1);
  x.slice(0, 0, 1).slice(1, 2, 4).fill(std::numeric_limits<float>::quiet_NaN());
  x.slice(0, 1, 2).fill(std::numeric_limits<float>::infinity());
  const GruWeights w = gru_weights(3, 4, 2);
  const Var leaf = Var::parameter(x);
  const Var weight = Var::parameter(w.input.value());
  for (const bool reverse : {false, true}) {
    const Recurrent run = gru(leaf, {weight, w.state, w.bias, w.state_bias}, {.lengths = lengths, .reverse = reverse});
    for (const float v : run.states.value().values()) EXPECT_TRUE(std::isfinite(v));
    const Tensor empty = run.last.value().slice(0, 1, 2).contiguous();
    for (const float v : empty.values()) EXPECT_EQ(v, 0.0F);
    backward(add(sum(run.states), sum(run.last)));
  }
  for (const float v : weight.grad().values()) EXPECT_TRUE(std::isfinite(v));
  const Tensor padding = leaf.grad().slice(1, 2, 4).contiguous();
  for (const float v : padding.values()) EXPECT_EQ(v, 0.0F);
}

TEST(Recurrent, ShapesThatDoNotFitAreNamed) {
  const auto message = [](auto&& call) -> std::string {
    try {
      (void)call();
    } catch (const ShapeError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  const GruWeights w = gru_weights(3, 4, 1);
  const Tensor x = Tensor::zeros({2, 5, 3});
  EXPECT_EQ(message([&] { return gru(Tensor::zeros({2, 3}), w); }), "gru: the input is [2,3], not [B,T,in]");
  EXPECT_EQ(message([&] {
              return gru(Tensor::zeros({2, 5, 7}), w);
            }),
            "gru: input weights [3,12] where [7,12] is needed");
  EXPECT_EQ(message([&] {
              return gru(x, {w.input, w.state, w.bias, {}});
            }),
            "gru: state bias is missing where [4] is needed");
  EXPECT_EQ(message([&] { return gru(x, w, {.lengths = Lengths{1}}); }), "gru: 1 lengths for a batch of 2");
  EXPECT_EQ(message([&] {
              return gru(x, w, {.lengths = Lengths{1, 6}});
            }),
            "gru: length 6 of sequence 1 is not in 0 to 5");
  EXPECT_EQ(message([&] {
              return gru(x, w, {}, Tensor::zeros({2, 5}));
            }),
            "gru: first state [2,5] where [2,4] is needed");
}

// One value at a time in double, as the paper has it.
TEST(Ssru, IsItsFormula) {
  for (const kernels::Table* table : kernels::available()) {
    const kernels::ScopedKernels scope(*table);
    for (const std::int64_t d : {1, 7, 8, 9, 33}) {
      const Tensor x = random_tensor({2, 6, d}, 1);
      const Tensor f = random_tensor({2, 6, d}, 2);
      const Tensor y = ssru(x, f).value();
      for (std::int64_t b = 0; b < 2; ++b) {
        for (std::int64_t i = 0; i < d; ++i) {
          double cell = 0;
          for (std::int64_t t = 0; t < 6; ++t) {
            const std::int64_t at = (b * 6 + t) * d + i;
            const double gate = sigmoid(f.data()[at]);
            cell = gate * cell + (1 - gate) * x.data()[at];
            EXPECT_NEAR(y.data()[at], std::max(cell, 0.0), 1e-6) << table->name;
          }
        }
      }
    }
  }
}

TEST(Ssru, GradientsMatchFiniteDifferences) {
  for (const kernels::Table* table : kernels::available()) {
    const kernels::ScopedKernels scope(*table);
    for (const std::int64_t d : {1, 7, 8, 9, 33}) {
      Tensor x = random_tensor({2, 5, d}, 1);
      // Cells far from 0, where max() has no slope: one sign for each column.
      for (std::int64_t i = 0; i < x.size(); ++i) {
        x.data()[i] = (i % d % 2 == 0 ? 1.0F : -1.0F) * (1 + std::abs(x.data()[i]));
      }
      test::check_gradients([](const auto& in) { return ssru(in[0], in[1]); }, {x, random_tensor({2, 5, d}, 2)});
    }
  }
}

TEST(Ssru, ShapesThatDoNotFitAreNamed) {
  try {
    (void)ssru(Tensor::zeros({2, 5, 3}), Tensor::zeros({2, 5, 4}));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(), "ssru: [2,5,3] and [2,5,4]; both must be [batch, time, width]");
  }
}

}  // namespace
}  // namespace fovea
