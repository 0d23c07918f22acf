// The best tokens of a step, chosen while the output layer is computed.
#include "model/best_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/arena.hpp"
#include "fovea/decode/search.hpp"
#include "fovea/model/folder.hpp"
#include "fovea/model/seq2seq.hpp"
#include "fovea/threads.hpp"
#include "kernels/kernels.hpp"
#include "model/kinds.hpp"
#include "support/copy_task.hpp"
#include "support/gradcheck.hpp"
#include "tasks/pair_learner.hpp"

namespace fovea {
namespace {

using test::random_tensor;

struct OutputLayer {
  Tensor states, bias;
  PackedWeight weight;
  OutputLayer(std::int64_t rows, std::int64_t in, std::int64_t out, Storage storage)
      : states(random_tensor({rows, in}, 1)),
        bias(random_tensor({out}, 2)),
        weight(random_tensor({out, in}, 3), MatrixLayout::out_in, storage) {}
  [[nodiscard]] BestTokens best(const BestRequest& request) const {
    BestTokens out;
    BestRows().choose(states.dim(0), states.data(), weight, bias.data(), request, out);
    return out;
  }
};

// From logits that are stored: sorted by score, then by token.
void expect_best(const OutputLayer& layer, const BestRequest& request) {
  const Tensor logits = layer.weight.product(layer.states, layer.bias);
  const BestTokens best = layer.best(request);
  const std::int64_t n = logits.dim(1);
  EXPECT_EQ(best.vocabulary, n);
  for (std::int64_t r = 0; r < logits.dim(0); ++r) {
    const float* x = logits.data() + r * n;
    std::vector<std::int32_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [x](std::int32_t a, std::int32_t b) { return x[a] > x[b]; });
    double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) sum += std::exp(static_cast<double>(x[j]) - x[order[0]]);
    const double shift = request.probabilities ? x[order[0]] + std::log(sum) : 0;
    const auto row = best.row(static_cast<std::size_t>(r));
    ASSERT_EQ(row.size(), static_cast<std::size_t>(std::min<std::int64_t>(n, request.count)));
    for (std::size_t i = 0; i < row.size(); ++i) {
      EXPECT_EQ(row[i].token, order[i]) << "row " << r;
      EXPECT_NEAR(row[i].score, x[order[i]] - shift, 2e-5);
    }
    EXPECT_NEAR(best.ends[static_cast<std::size_t>(r)], x[request.end] - shift, 2e-5);
  }
}

TEST(BestRows, AreTheBestOfStoredLogitsInEveryStorage) {
  for (const kernels::Table* table : kernels::available()) {
    const kernels::ScopedKernels use(*table);
    for (const Storage storage : {Storage::f32, Storage::f16, Storage::int8}) {
      for (const std::int64_t out : {1, 9, 255, 256, 257, 1000}) {
        for (const std::int64_t rows : {1, 3, 70}) {
          SCOPED_TRACE(std::string(table->name) + " " + std::to_string(out));
          const OutputLayer layer(rows, 20, out, storage);
          expect_best(layer, {.count = 1, .probabilities = false, .end = 0});
          expect_best(layer, {.count = 10, .probabilities = true, .end = static_cast<std::int32_t>(out - 1)});
        }
      }
    }
  }
}

// Blocks of columns far above and far below zero, in one row; long lists too.
TEST(BestRows, LogitsFarFromZeroKeepTheirProbabilities) {
  for (const kernels::Table* table : kernels::available()) {
    const kernels::ScopedKernels use(*table);
    for (const std::vector<float>& moved :
         {std::vector<float>{200, 0, -200, 45},
          {-90, -300, -60, -1e20F},
          {-300, 5, 38, -41},
          {-5, -std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), 7}}) {
      SCOPED_TRACE(std::string(table->name) + " " + std::to_string(moved[0]));
      OutputLayer layer(3, 20, 1000, Storage::f32);
      layer.bias = layer.bias.clone();
      for (std::int64_t j = 0; j < 1000; ++j) layer.bias.data()[j] += moved[static_cast<std::size_t>(j / 256)];
      expect_best(layer, {.count = 10, .probabilities = true, .end = 2});
      expect_best(layer, {.count = 400, .probabilities = true, .end = 2});
    }
  }
}

TEST(BestRows, AreTheSameBytesAloneInABatchAndOnAnyThreads) {
  const int before = threads();
  for (const Storage storage : {Storage::f32, Storage::f16, Storage::int8}) {
    OutputLayer layer(40, 64, 5000, storage);
    const BestRequest request{.count = 6, .probabilities = true, .end = 3};
    set_threads(1);
    const BestTokens alone = layer.best(request);
    set_threads(3);
    const BestTokens shared = layer.best(request);
    set_threads(before);
    EXPECT_EQ(shared.ends, alone.ends);
    const Tensor all = layer.states;
    for (std::size_t r = 0; r < 40; ++r) {
      layer.states = all.slice(0, static_cast<std::int64_t>(r), static_cast<std::int64_t>(r) + 1).contiguous();
      const BestTokens single = layer.best(request);
      for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(shared.row(r)[i].token, alone.row(r)[i].token);
        EXPECT_EQ(shared.row(r)[i].score, alone.row(r)[i].score);
        EXPECT_EQ(single.row(0)[i].token, alone.row(r)[i].token);
        EXPECT_EQ(single.row(0)[i].score, alone.row(r)[i].score);
      }
    }
  }
}

TEST(BestRows, EqualTokensComeInTheirOrderAndWhatIsNoNumberIsNotChosen) {
  OutputLayer layer(1, 4, 600, Storage::f32);
  layer.states.fill(0.0F);  // the logits are the biases
  layer.bias.fill(0.25F);
  const BestTokens equal = layer.best({.count = 3, .probabilities = true, .end = 1});
  for (std::int32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(equal.row(0)[static_cast<std::size_t>(i)].token, i);
    EXPECT_NEAR(equal.row(0)[static_cast<std::size_t>(i)].score, -std::log(600.0), 1e-5);
  }
  layer.bias.fill(-std::numeric_limits<float>::infinity());
  layer.bias.data()[300] = 2.0F;
  const BestTokens one = layer.best({.count = 3, .probabilities = true, .end = 1});
  ASSERT_EQ(one.row(0).size(), 1U);
  EXPECT_EQ(one.row(0)[0].token, 300);
  EXPECT_EQ(one.row(0)[0].score, 0.0F);
  layer.bias.fill(0.0F);
  layer.bias.data()[599] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(layer.best({.count = 3, .probabilities = true, .end = 1}).ends[0]));
}

// Hides best(), so that the search takes logits.
class OnlyLogits final : public Stepper {
 public:
  explicit OnlyLogits(std::unique_ptr<Stepper> stepper) : stepper_(std::move(stepper)) {}
  Tensor step(std::span<const std::int32_t> tokens) override { return stepper_->step(tokens); }
  void keep(std::span<const std::int32_t> rows) override { stepper_->keep(rows); }
  [[nodiscard]] Tensor attention() const override { return stepper_->attention(); }

 private:
  std::unique_ptr<Stepper> stepper_;
};

TEST(BestRows, ASearchFindsTheSameBytesWithThemAndWithLogits) {
  for (const auto& [name, config] : test::kinds()) {
    Parameters p(5);
    pack_weights(config, p, {.type = Storage::f32});
    const Seq2Seq model(config, p);
    const test::BackwardsTask task(4, 7, 6, 1);
    PairBatch batch;
    batch.fill(task, task.all());
    const NoGrad quiet;
    Pass pass;
    const Memory memory = model.encode(batch.source.view(), pass);
    std::vector<SearchInput> inputs;
    for (const std::int64_t length : batch.source.view().lengths) inputs.push_back({.source_length = length});
    using O = GenerateOptions;
    for (const auto& [how, cut] : {std::pair(O{.beam = 1, .max_length = 9, .scores = false}, false),
                                   {O{.beam = 1, .min_length = 4}, false},
                                   {O{.beam = 3, .n_best = 3, .min_length = 2, .max_length = 7}, false},
                                   {O{.beam = 5, .n_best = 2, .max_length = 5}, true}}) {
      SCOPED_TRACE(name);
      const auto stepper = model.start(memory);
      OnlyLogits logits(model.start(memory));
      const auto found = search(*stepper, inputs, how, {.cut = cut});
      const auto expected = search(logits, inputs, how, {.cut = cut});
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t s = 0; s < found.size(); ++s) {
        ASSERT_EQ(found[s].size(), expected[s].size());
        for (std::size_t i = 0; i < found[s].size(); ++i) {
          EXPECT_EQ(found[s][i].tokens, expected[s][i].tokens);
          EXPECT_EQ(found[s][i].score, expected[s][i].score);
          EXPECT_EQ(found[s][i].log_probability, expected[s][i].log_probability);
        }
      }
    }
  }
}

TEST(BestRows, AStepOfADecoderAsksTheSystemForNoMemory) {
  const int before_here = threads();
  set_threads(1);  // which thread needs its buffers first is a matter of timing
  for (const char* name : {"transformer-tiny", "rnn-bahdanau", "cnn"}) {
    SCOPED_TRACE(name);
    ModelConfig config = preset(name);
    config.tokens().vocabulary = config.generator().vocabulary = 300;
    Parameters p(5);
    pack_weights(config, p, {.type = Storage::int8});
    const Seq2Seq model(config, p);
    const test::BackwardsTask task(4, 7, 6, 1);
    PairBatch batch;
    batch.fill(task, task.all());
    const NoGrad quiet;
    BestTokens best;
    const auto decode = [&] {  // as many steps as make room twice
      Pass pass;
      const auto stepper = model.start(model.encode(batch.source.view(), pass));
      std::vector<std::int32_t> tokens(4, bos_id);
      for (int step = 0; step < 40; ++step) {
        ASSERT_TRUE(stepper->best(tokens, {.count = 10, .probabilities = true, .end = eos_id}, best));
        for (std::size_t r = 0; r < 4; ++r) tokens[r] = best.row(r)[0].token;
      }
    };
    decode();
    decode();
    const auto before = arena_stats().system_allocations;
    decode();
    EXPECT_EQ(arena_stats().system_allocations, before);
  }
  set_threads(before_here);
}

}  // namespace
}  // namespace fovea
