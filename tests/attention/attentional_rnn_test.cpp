#include "fovea/attention/attentional_rnn.hpp"
#include "fovea/attention/attentional_rnn_stepper.hpp"
#include "fovea/packed_weight.hpp"

#include <algorithm>
#include <limits>

#include "attention/decoder_reference.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "fovea/threads.hpp"
#include "kernels/kernels.hpp"
#include "support/op_test.hpp"

namespace fovea {
namespace {

using test::DecoderCase;
using test::LocalName;
using test::ReferenceDecoder;
using test::ReferenceStep;
using test::ScoreName;

constexpr ScoreName kScores[] = {ScoreName::dot,          ScoreName::scaled_dot, ScoreName::general,
                                 ScoreName::general_bias, ScoreName::cosine,     ScoreName::additive,
                                 ScoreName::concat,       ScoreName::location,   ScoreName::coverage};

bool needs_equal_widths(ScoreName score) {
  return score == ScoreName::dot || score == ScoreName::scaled_dot || score == ScoreName::cosine;
}

constexpr DecoderForm kForms[] = {DecoderForm::bahdanau, DecoderForm::luong, DecoderForm::conditional};

// Every score in every form, and every option with one score.
std::vector<DecoderCase> cases() {
  std::vector<DecoderCase> all;
  for (const DecoderForm form : kForms) {
    const int least = form == DecoderForm::conditional ? 2 : 1;
    for (const ScoreName score : kScores) {
      DecoderCase c{.form = form, .score = score, .layers = least};
      if (needs_equal_widths(score)) c.memory = c.units;
      all.push_back(c);
    }
    for (const LocalName local : {LocalName::monotonic, LocalName::gaussian, LocalName::predictive}) {
      all.push_back({.form = form, .local = local, .layers = least});
      all.push_back({.cell = Cell::lstm, .form = form, .score = ScoreName::general, .local = local, .layers = least});
    }
    all.push_back({.form = form, .score = ScoreName::coverage, .local = LocalName::predictive, .layers = least});
    for (const Cell cell : {Cell::gru, Cell::lstm}) {
      for (const int layers : {1, 2, 3}) {
        if (form == DecoderForm::conditional && layers != 2) continue;
        all.push_back({.cell = cell, .form = form, .layers = layers});
        all.push_back({.cell = cell, .form = form, .layers = layers, .first = false});
      }
    }
  }
  for (const DecoderForm form : kForms) {
    const int least = form == DecoderForm::conditional ? 2 : 1;
    all.push_back({.form = form, .layers = least, .gate = true});
    all.push_back({.cell = Cell::lstm, .form = form, .score = ScoreName::general, .layers = least, .gate = true});
    all.push_back({.form = form, .layers = least, .reading = Reading::hard});
    all.push_back({.cell = Cell::lstm, .form = form, .layers = least, .gate = true, .reading = Reading::hard});
  }
  all.push_back({.score = ScoreName::coverage, .local = LocalName::predictive, .gate = true});
  all.push_back({.cell = Cell::lstm, .form = DecoderForm::luong, .layers = 2, .feeding = false});
  all.push_back({.form = DecoderForm::luong, .score = ScoreName::coverage, .feeding = false});
  DecoderCase dense{.cell = Cell::lstm, .form = DecoderForm::luong, .layers = 2};
  dense.lengths = {4, 4, 4};
  all.push_back(dense);
  dense.form = DecoderForm::bahdanau;
  all.push_back(dense);
  dense.form = DecoderForm::conditional;
  all.push_back(dense);
  DecoderCase empty;
  empty.lengths = {2, 0, 4};
  empty.memory_lengths = {5, 2, 0};
  all.push_back(empty);
  for (const std::int64_t units : {1, 8, 9, 33}) {
    DecoderCase c{.units = units, .hidden = units};
    all.push_back(c);
    c.form = DecoderForm::conditional;
    c.layers = 2;
    all.push_back(c);
  }
  return all;
}

std::string name(const DecoderCase& c) {
  return "cell " + std::to_string(static_cast<int>(c.cell)) + " form " + std::to_string(static_cast<int>(c.form)) +
         " score " + std::to_string(static_cast<int>(c.score)) + " local " + std::to_string(static_cast<int>(c.local)) +
         " gate " + std::to_string(c.gate) + " reading " + std::to_string(static_cast<int>(c.reading)) + " layers " +
         std::to_string(c.layers) + " first " + std::to_string(c.first) + " units " + std::to_string(c.units);
}

std::vector<Var> constants(const std::vector<Tensor>& values) {
  return {values.begin(), values.end()};
}

void expect_row(const Var& output, std::int64_t row, const std::vector<double>& expected) {
  if (!output) return;
  const std::int64_t n = output.dim(2);
  for (std::int64_t i = 0; i < n; ++i) {
    const double want = expected.empty() ? 0.0 : expected[static_cast<std::size_t>(i)];
    EXPECT_NEAR(output.value().data()[row * n + i], want, 1e-5);
  }
}

TEST(AttentionalRnn, ComputesWhatTheFormulasSay) {
  for (const kernels::Table* table : kernels::available()) {
    const kernels::ScopedKernels scope(*table);
    for (const DecoderCase& c : cases()) {
      SCOPED_TRACE(name(c) + " " + table->name);
      const std::vector<Tensor> values = c.random();
      const AttentionalRnn run = c.run(constants(values));
      EXPECT_EQ(static_cast<bool>(run.attentional), c.luong());
      EXPECT_EQ(static_cast<bool>(run.states), !c.luong());
      const ReferenceDecoder reference(c, values);
      for (std::int64_t b = 0; b < c.batch; ++b) {
        auto expected = reference.run(b);
        expected.resize(static_cast<std::size_t>(c.steps));  // padding: nothing, which is zeros
        for (std::int64_t t = 0; t < c.steps; ++t) {
          const ReferenceStep& step = expected[static_cast<std::size_t>(t)];
          expect_row(run.states, b * c.steps + t, step.state);
          expect_row(run.contexts, b * c.steps + t, step.context);
          expect_row(run.attentional, b * c.steps + t, step.attentional);
          expect_row(run.weights, b * c.steps + t, step.weights);
        }
      }
    }
  }
}

// All outputs as one, each weighed differently, so that every gradient path counts.
Var joined(const AttentionalRnn& run) {
  Var total;
  unsigned seed = 100;
  for (const Var& v : {run.states, run.contexts, run.attentional, run.weights}) {
    ++seed;
    if (!v) continue;
    const Tensor r = test::random_tensor(v.shape(), seed);
    double sum = 0;
    for (std::int64_t i = 0; i < v.size(); ++i) sum += static_cast<double>(v.value().data()[i]) * r.data()[i];
    const Var term = record(Tensor::full({}, static_cast<float>(sum)), {v}, [v, r](const Tensor& dy) {
      const Tensor dv = r.clone();
      for (float& x : dv.values()) x *= dy.item();
      v.accumulate(dv);
    });
    total = total ? add(total, term) : term;
  }
  return total;
}

// So small that threads would only wait for each other.
class OneThread {
 public:
  OneThread() : before_(threads()) { set_threads(1); }
  ~OneThread() { set_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

TEST(AttentionalRnn, GradientMatchesFiniteDifferences) {
  const OneThread one;
  for (DecoderCase c : cases()) {
    SCOPED_TRACE(name(c));
    // Keys that come into visibility or leave it when a centre moves make the function jump: here none does.
    if (c.local == LocalName::predictive) c.half_width = 6;
    test::check_gradients([&](const auto& in) { return joined(c.run(in)); }, c.random(),
                          {.step = 1e-2, .tolerance = 3e-3, .per_input = 4});
  }
}

void expect_equal(const Tensor& a, const Tensor& b, const char* what) {
  ASSERT_EQ(a.shape(), b.shape()) << what;
  EXPECT_TRUE(std::ranges::equal(a.contiguous().values(), b.contiguous().values())) << what;
}

TEST(AttentionalRnn, ASequencesResultDoesNotDependOnTheOthers) {
  const int before = threads();
  for (const DecoderForm form : kForms) {
    DecoderCase c{.form = form, .layers = 2, .batch = 29, .units = 17, .hidden = 24};
    c.lengths.resize(29);
    c.memory_lengths.resize(29);
    for (std::size_t b = 0; b < 29; ++b) {
      c.lengths[b] = static_cast<std::int64_t>(b * 7 % 5);
      c.memory_lengths[b] = static_cast<std::int64_t>(b * 5 % 6);
    }
    const std::vector<Tensor> values = c.random();
    for (const kernels::Table* table : kernels::available()) {
      const kernels::ScopedKernels scope(*table);
      for (const int count : {1, 3}) {
        set_threads(count);
        const AttentionalRnn all = c.run(constants(values));
        for (const std::int64_t b : {3, 9, 28}) {
          DecoderCase one = c;
          one.batch = 1;
          one.lengths = {c.lengths[static_cast<std::size_t>(b)]};
          one.memory_lengths = {c.memory_lengths[static_cast<std::size_t>(b)]};
          std::vector<Tensor> own;
          std::size_t at = 0;
          for (const auto& [array, shape] : one.arrays()) {
            const Tensor& value = values[at++];
            own.push_back(shape == value.shape() ? value : value.slice(0, b, b + 1).contiguous());
          }
          const AttentionalRnn alone = one.run(constants(own));
          const Var& a = c.luong() ? all.attentional : all.states;
          const Var& x = c.luong() ? alone.attentional : alone.states;
          expect_equal(x.value(), a.value().slice(0, b, b + 1), table->name);
          expect_equal(alone.weights.value(), all.weights.value().slice(0, b, b + 1), table->name);
        }
      }
    }
  }
  set_threads(before);
}

TEST(AttentionalRnn, PaddingNeverChangesTheResult) {
  for (const DecoderForm form : kForms) {
    const DecoderCase c{.form = form, .layers = form == DecoderForm::conditional ? 2 : 1};
    std::vector<Tensor> values = c.random();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    values[0].slice(0, 1, 2).slice(1, 1, 4).fill(nan);
    values[1].slice(0, 2, 3).slice(1, 1, 5).fill(nan);
    std::vector<Var> leaves;
    leaves.reserve(values.size());
    for (const Tensor& v : values) leaves.push_back(Var::parameter(v));
    backward(joined(c.run(leaves)));
    for (const Var& leaf : leaves) {
      for (const float v : leaf.grad().values()) EXPECT_TRUE(std::isfinite(v));
    }
  }
}

TEST(AttentionalRnn, ScoresBeyondTheReachOfExponentialsAreExact) {
  DecoderCase c;
  std::vector<Tensor> values = c.random();
  // A huge bias of the queries and its negative in the keys: sums are ordinary, their parts are not.
  std::size_t at = 0;
  for (const auto& [array, shape] : c.arrays()) {
    if (array == "score_b") values[at].fill(50.0F);
    if (array == "score_u") values[at].fill(-10.0F);
    if (array == "memory") {
      for (std::int64_t i = 0; i < values[at].size(); ++i) {
        values[at].data()[i] = 50.0F / 60.0F + 0.01F * static_cast<float>(i % 7);
      }
    }
    ++at;
  }
  const AttentionalRnn run = c.run(constants(values));
  const ReferenceDecoder reference(c, values);
  for (std::int64_t b = 0; b < c.batch; ++b) {
    const auto expected = reference.run(b);
    for (std::size_t t = 0; t < expected.size(); ++t) {
      expect_row(run.weights, b * c.steps + static_cast<std::int64_t>(t), expected[t].weights);
    }
  }
}

TEST(AttentionalRnn, DropoutBetweenLayersIsTheSameForwardAndBackward) {
  for (const Cell cell : {Cell::gru, Cell::lstm}) {
    const DecoderCase c{.cell = cell, .form = DecoderForm::luong, .layers = 3};
    AttentionalRnnOptions how = c.options();
    how.dropout = {.rate = 0.4F, .seed = 5};
    const std::vector<Tensor> values = c.random();
    const Var dropped = c.run(constants(values), how).attentional;
    const Var again = c.run(constants(values), how).attentional;
    const Var plain = c.run(constants(values)).attentional;
    expect_equal(dropped.value(), again.value(), "the same seed");
    EXPECT_FALSE(std::ranges::equal(dropped.value().values(), plain.value().values()));
    test::check_gradients([&](const auto& in) { return c.run(in, how).attentional; }, values,
                          {.step = 1e-2, .tolerance = 3e-3, .per_input = 4});
  }
}

// Decoding takes the same steps; rows that are kept, doubled and mixed go on as what they were.
TEST(AttentionalRnnStepper, StepByStepIsTheSameRun) {
  for (DecoderCase c : cases()) {
    SCOPED_TRACE(name(c));
    c.lengths = {4, 4, 4};
    const std::vector<Tensor> values = c.random();
    const std::vector<Var> in = constants(values);
    const AttentionalRnn all = c.run(in);
    std::vector<Var> firsts;
    std::vector<Var> cells;
    const AttentionalRnnWeights weights = c.weights(in, firsts, cells);
    std::vector<Tensor> first;
    std::vector<Tensor> cell;
    first.reserve(firsts.size());
    for (const Var& v : firsts) first.push_back(v.value());
    for (const Var& v : cells) {
      if (v) cell.push_back(v.value());
    }
    const PackedAttentionalRnn packed(weights, c.options(), c.embedding, c.memory);
    AttentionalRnnStepper stepper(packed, values[1], c.memory_lengths, first, cell);
    std::vector<std::int32_t> sequence{0, 1, 2};
    for (std::int64_t t = 0; t < c.steps; ++t) {
      const Tensor x = Tensor::empty({stepper.rows(), c.embedding});
      for (std::size_t r = 0; r < sequence.size(); ++r) {
        const auto row = static_cast<std::int64_t>(r);
        x.slice(0, row, row + 1).copy_from(values[0].select(0, sequence[r]).slice(0, t, t + 1));
      }
      const AttentionalRnnStep step = stepper.step(x);
      for (std::size_t r = 0; r < sequence.size(); ++r) {
        const auto row = static_cast<std::int64_t>(r);
        const auto of = [&](const Var& v) { return v.value().select(0, sequence[r]).slice(0, t, t + 1); };
        expect_equal(step.weights.slice(0, row, row + 1), of(all.weights), "weights");
        if (all.states) expect_equal(step.state.slice(0, row, row + 1), of(all.states), "state");
        if (all.contexts) expect_equal(step.context.slice(0, row, row + 1), of(all.contexts), "context");
        if (all.attentional) expect_equal(step.attentional.slice(0, row, row + 1), of(all.attentional), "attentional");
      }
      const std::vector<std::int32_t> kept = t == 0   ? std::vector<std::int32_t>{2, 0, 0, 1}
                                             : t == 1 ? std::vector<std::int32_t>{3, 0}
                                                      : std::vector<std::int32_t>{0, 1};
      stepper.keep(kept);
      std::vector<std::int32_t> next;
      next.reserve(kept.size());
      for (const std::int32_t r : kept) next.push_back(sequence[static_cast<std::size_t>(r)]);
      sequence = next;
    }
    EXPECT_THROW(stepper.step(Tensor::zeros({7, c.embedding})), ShapeError);
    EXPECT_THROW(stepper.keep(std::vector<std::int32_t>{2}), ShapeError);
  }
}

TEST(AttentionalRnnStepper, KeysAreProjectedInTheStorageOfTheWeights) {
  for (const ScoreName score : {ScoreName::additive, ScoreName::general, ScoreName::concat}) {
    const DecoderCase c{.score = score};
    SCOPED_TRACE(name(c));
    const std::vector<Tensor> values = c.random();
    std::vector<Var> firsts, cells;
    AttentionalRnnWeights weights = c.weights(constants(values), firsts, cells);
    weights.storage = Storage::int8;
    Tensor w;
    if (const auto* additive = std::get_if<score::Additive>(&weights.score)) w = additive->u.value();
    if (const auto* general = std::get_if<score::General>(&weights.score)) w = general->w.value();
    if (const auto* concat = std::get_if<score::Concat>(&weights.score)) {
      w = concat->w.value().slice(1, c.units, c.units + c.memory).contiguous();
    }
    const PackedAttentionalRnn packed(weights, c.options(), c.embedding, c.memory);
    const AttentionalRnnStepper stepper(packed, values[1], c.memory_lengths);
    const PackedWeight rounded(w, MatrixLayout::out_in, Storage::int8);
    expect_equal(stepper.keys(), rounded.product(values[1]), "keys");
  }
}

// Several targets that read one row of the memory are the same as the memory with that row repeated.
TEST(AttentionalRnn, TargetsMayShareAMemory) {
  for (const ScoreName score : {ScoreName::additive, ScoreName::dot, ScoreName::location}) {
    DecoderCase c{.score = score, .gate = true};
    if (needs_equal_widths(score)) c.memory = c.units;
    c.memory_lengths = {5, 3, 5};
    std::vector<Tensor> values = c.random();
    const std::vector<std::int32_t> rows{1, 0, 1};
    const Tensor two = test::random_tensor({2, c.source, c.memory}, 77);
    const auto run = [&](bool shared, Tensor& dmemory) {
      std::vector<Var> in = constants(values);
      const Var memory = Var::parameter(two.clone());
      AttentionalRnnOptions how = c.options();
      const std::vector<std::int64_t> each{3, 5, 3}, of_two{5, 3};
      how.memory_lengths = shared ? of_two : each;
      if (shared) how.memory_rows = rows;
      in[1] = shared ? memory : gather(memory, rows);
      const AttentionalRnn result = c.run(in, how);
      backward(sum(add(sum(mul(result.states, result.states)), sum(result.weights))));
      dmemory = memory.grad().clone();
      return result.contexts.value();
    };
    Tensor apart, together;
    const Tensor expected = run(false, apart);
    EXPECT_TRUE(test::same_bytes(run(true, together), expected));
    for (std::int64_t i = 0; i < apart.size(); ++i) EXPECT_NEAR(together.data()[i], apart.data()[i], 1e-5);
  }
}

// Places are drawn by the weights: over many seeds as often as the weights say, and by the seed alone.
TEST(AttentionalRnn, SampledPlacesFollowTheWeights) {
  const DecoderCase c;
  const std::vector<Var> in = constants(c.random());
  AttentionalRnnOptions how = c.options();
  how.reading = Reading::sampled;
  std::vector<double> counts(static_cast<std::size_t>(c.source), 0.0);
  constexpr int runs = 4000;
  for (int i = 0; i < runs; ++i) {
    how.reading_seed = static_cast<std::uint64_t>(i);
    const AttentionalRnn run = c.run(in, how);
    ASSERT_EQ(run.read.shape(), (Shape{c.batch, c.steps, c.source}));
    for (std::int64_t j = 0; j < c.source; ++j) {
      const float read = run.read.data()[j];  // of the first step, whose weights are the same in every run
      counts[static_cast<std::size_t>(j)] += read;
      for (std::int64_t k = 0; read > 0 && k < c.memory; ++k) {
        ASSERT_EQ(run.contexts.value().data()[k], in[1].value().data()[j * c.memory + k]);
      }
    }
    if (i > 0) continue;
    EXPECT_TRUE(test::same_bytes(c.run(in, how).read, run.read));
  }
  const AttentionalRnn last = c.run(in, how);
  for (std::int64_t j = 0; j < c.source; ++j) {
    EXPECT_NEAR(counts[static_cast<std::size_t>(j)] / runs, last.weights.value().data()[j], 0.03) << j;
  }
}

TEST(AttentionalRnn, WhatDoesNotFitIsNamed) {
  const auto message = [](const DecoderCase& c, const auto& change) -> std::string {
    std::vector<Var> in = constants(c.random());
    AttentionalRnnOptions how = c.options();
    change(in, how);
    try {
      (void)c.run(in, how);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  const DecoderCase c;
  EXPECT_EQ(message(c,
                    [](auto& in, auto&) {
                      in[0] = Tensor::zeros({3, 4});
                    }),
            "attentional_rnn: x [3,4]: expected [B,T,E]");
  EXPECT_EQ(message(c,
                    [](auto& in, auto&) {
                      in[1] = Tensor::zeros({2, 5, 6});
                    }),
            "attentional_rnn: memory [2,5,6]: expected [3,S,M] with S at least 1");
  EXPECT_EQ(message(c,
                    [](auto& in, auto&) {
                      in[2] = Tensor::zeros({3, 21});
                    }),
            "attentional_rnn: layers[0].input [3,21]: expected [9,21]");
  const std::vector<std::int64_t> wrong{1, 2, 6};
  EXPECT_EQ(message(c, [&](auto&, auto& how) { how.memory_lengths = wrong; }),
            "attentional_rnn: memory length 6 of sequence 2 is not in 0 to 5");
  EXPECT_EQ(message(c, [&](auto&, auto& how) { how.lengths = wrong; }),
            "attentional_rnn: length 6 of sequence 2 is not in 0 to 4");
  EXPECT_EQ(message({.score = ScoreName::dot}, [](auto&, auto&) {}),
            "attentional_rnn: memory of width 6: the dot score expects 7, the state's");
  EXPECT_EQ(message({.form = DecoderForm::conditional}, [](auto&, auto&) {}),
            "attentional_rnn: 1 layers: expected the 2 cells of the conditional form, one before the attention and one "
            "after it");
  EXPECT_EQ(message({.form = DecoderForm::conditional, .layers = 2},
                    [](auto& in, auto&) {
                      in[7] = Tensor::zeros({7, 21});
                    }),
            "attentional_rnn: layers[1].input [7,21]: expected [6,21]");
}

}  // namespace
}  // namespace fovea
