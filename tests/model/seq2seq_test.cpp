#include "fovea/model/seq2seq.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fovea/attention/interventions.hpp"
#include "fovea/decode/search.hpp"
#include "fovea/error.hpp"
#include "fovea/model/folder.hpp"
#include "fovea/threads.hpp"
#include "model/kinds.hpp"
#include "support/copy_task.hpp"
#include "tasks/pair_learner.hpp"

namespace fovea {
namespace {

using test::kinds;
using test::small;
using test::small_transformer;

// Decoding a token at a time must give what teacher forcing gives, whatever other rows there are.
TEST(Seq2Seq, StepsGiveTheSameProbabilitiesAsAllPositionsAtOnce) {
  for (const auto& [name, config] : kinds()) {
    SCOPED_TRACE(name);
    Parameters p(3);
    const Seq2Seq model(config, p);
    const test::BackwardsTask task(5, 7, 6, 1);
    PairBatch batch;
    batch.fill(task, task.all());
    std::vector<double> expected(5);
    model.score(batch.source.view(), batch.target.view(), batch.wanted.view().ids, expected);

    const NoGrad quiet;
    Pass pass;
    const Memory memory = model.encode(batch.source.view(), pass);
    const auto stepper = model.start(memory, true);
    const Tokens target = batch.target.view();
    const auto at = [&target](std::int64_t r, std::int64_t t) {
      return static_cast<std::size_t>(r * target.length + t);
    };
    std::vector<double> total(5, 0.0);
    for (std::int64_t t = 0; t < target.length; ++t) {
      std::vector<std::int32_t> tokens;
      for (std::int64_t r = 0; r < 5; ++r) tokens.push_back(target.ids[at(r, t)]);
      const Tensor scores = stepper->step(tokens);
      const Tensor attention = stepper->attention();
      for (std::int64_t r = 0; r < 5; ++r) {
        const std::int32_t wanted = batch.wanted.view().ids[at(r, t)];
        if (wanted == pad_id) continue;
        double sum = 0;
        for (std::int64_t k = 0; k < scores.dim(1); ++k) sum += std::exp(scores.data()[r * scores.dim(1) + k]);
        total[static_cast<std::size_t>(r)] += scores.data()[r * scores.dim(1) + wanted] - std::log(sum);
        if (attention && !test::is_local(config)) {  // a Gaussian factor leaves less than 1
          double row = 0;
          for (std::int64_t k = 0; k < attention.dim(1); ++k) row += attention.data()[r * attention.dim(1) + k];
          EXPECT_NEAR(row, 1.0, 1e-5);
        }
      }
      stepper->keep(std::vector<std::int32_t>{0, 1, 2, 3, 4});
    }
    for (std::size_t r = 0; r < 5; ++r) EXPECT_NEAR(total[r], expected[r], 1e-3);
  }
}

// The other way to read the weights: of all positions at once, by layer and head.
TEST(Seq2Seq, StepsGiveTheSameAttentionAsAllPositionsAtOnce) {
  for (const auto& [name, config] : kinds()) {
    SCOPED_TRACE(name);
    Parameters p(3);
    const Seq2Seq model(config, p);
    const test::BackwardsTask task(3, 7, 6, 1);
    PairBatch batch;
    batch.fill(task, task.all());
    const Tokens target = batch.target.view();
    const NoGrad quiet;
    Pass pass;
    const Memory memory = model.encode(batch.source.view(), pass);
    const Decoded decoded = model.generator().decode(&memory, target, pass, {.cross = true});
    ASSERT_EQ(static_cast<int>(decoded.cross.size()), config.attention_layers());
    EXPECT_EQ(decoded.cross.empty(), !config.attends());
    for (int layer = 0; layer < config.attention_layers(); ++layer) {
      const Tensor whole = decoded.cross[static_cast<std::size_t>(layer)].value().contiguous();
      const std::int64_t keys = batch.source.view().length;
      ASSERT_EQ(whole.shape(), (Shape{3, config.attention_heads(), target.length, keys}));
      for (int head = 0; head < config.attention_heads(); ++head) {
        const auto stepper = model.start(memory, true, {.layer = layer, .head = head});
        for (std::int64_t t = 0; t < target.length; ++t) {
          std::vector<std::int32_t> tokens;
          for (std::int64_t r = 0; r < 3; ++r) {
            tokens.push_back(target.ids[static_cast<std::size_t>(r * target.length + t)]);
          }
          (void)stepper->step(tokens);
          const Tensor step = stepper->attention();
          for (std::int64_t r = 0; r < 3; ++r) {
            if (t >= target.lengths[static_cast<std::size_t>(r)]) continue;
            const float* row = whole.data() + ((r * config.attention_heads() + head) * target.length + t) * keys;
            for (std::int64_t k = 0; k < keys; ++k) ASSERT_NEAR(step.data()[r * keys + k], row[k], 1e-4);
          }
        }
      }
    }
  }
}

// A softmax that starts saturated passes no gradient on: for long nothing is learned about where to look.
TEST(Seq2Seq, AnUntrainedModelLooksAtMuchOfTheSource) {
  for (const char* const name : preset_names()) {
    for (const Positions positions : {Positions::sinusoidal, Positions::learned}) {
      SCOPED_TRACE(name);
      ModelConfig config = preset(name);
      if (auto* part = std::get_if<TransformerConfig>(&config.encoder)) part->positions = positions;
      if (auto* part = std::get_if<TransformerConfig>(&config.generator().decoder)) part->positions = positions;
      config.tokens().vocabulary = config.generator().vocabulary = 100;
      Parameters p(3);
      const Seq2Seq model(config, p);
      const test::BackwardsTask task(4, 90, 24, 1);
      PairBatch batch;
      batch.fill(task, task.all());
      const NoGrad quiet;
      Pass pass;
      const Memory memory = model.encode(batch.source.view(), pass);
      for (int layer = 0; layer < config.attention_layers(); ++layer) {
        for (int head = 0; head < config.attention_heads(); ++head) {
          const auto stepper = model.start(memory, true, {.layer = layer, .head = head});
          (void)stepper->step(std::vector<std::int32_t>(4, bos_id));
          const Tensor weights = stepper->attention();  // [rows, keys]
          const std::int64_t keys = weights.dim(-1);
          for (std::int64_t row = 0; row < 4; ++row) {
            double entropy = 0;
            for (std::int64_t k = 0; k < keys; ++k) {
              const double w = weights.data()[row * keys + k];
              if (w > 0) entropy -= w * std::log(w);
            }
            const auto length = batch.source.view().lengths[static_cast<std::size_t>(row)];
            EXPECT_GT(std::exp(entropy), 0.3 * static_cast<double>(length))
                << "row " << row << " of " << length << ", layer " << layer << ", head " << head;
          }
        }
      }
    }
  }
}

// Embeddings that start too small leave an RNN's gates where they are, whatever word there is.
TEST(Seq2Seq, AnUntrainedModelDistinguishesWords) {
  for (const char* const name : preset_names()) {
    ModelConfig config = preset(name);
    config.tokens().vocabulary = config.generator().vocabulary = 100;
    const auto difference = [&config] {  // root mean square, of what two words are encoded to
      Parameters p(3);
      const Seq2Seq model(config, p);
      const NoGrad quiet;
      Pass pass;
      const std::vector<std::int32_t> ids{10, 20};
      const std::vector<std::int64_t> lengths{1, 1};
      const Memory memory = model.encode({ids, lengths, 2, 1}, pass);
      const Tensor a = memory.states.value().contiguous();
      const std::int64_t width = a.size() / 2;
      double sum = 0;
      for (std::int64_t i = 0; i < width; ++i) sum += std::pow(a.data()[i] - a.data()[width + i], 2);
      return std::sqrt(sum / static_cast<double>(width));
    };
    EXPECT_GT(difference(), 0.1) << name;
    config.tokens().scaled_embeddings = config.generator().scaled_embeddings = false;
    if (!std::holds_alternative<RnnEncoderConfig>(config.encoder)) continue;
    EXPECT_LT(difference(), 0.1) << name;
  }
}

TEST(Seq2Seq, ATransformersScoresAreDividedByDefault) {
  const auto score = [](bool scaled) {
    TransformerConfig part = small_transformer();
    part.scaled_scores = scaled;
    const ModelConfig config = small(part, part);
    Parameters p(3);
    const Seq2Seq model(config, p);
    const test::BackwardsTask task(1, 7, 6, 1);
    PairBatch batch;
    batch.fill(task, task.all());
    std::vector<double> out(1);
    model.score(batch.source.view(), batch.target.view(), batch.wanted.view().ids, out);
    return out[0];
  };
  EXPECT_GT(std::abs(score(true) - score(false)), 1e-4);
}

// Equal words are encoded to equal states where no position is added to them: only what turns with their place between
// source and target can distinguish them.
TEST(Seq2Seq, RotaryCrossPositionsDistinguishEqualWords) {
  const auto spread = [](Positions positions) {  // of the weights of the first layer's first head, at the second step
    TransformerConfig part = small_transformer();
    part.positions = positions;
    const ModelConfig config = small(part, part);
    Parameters p(3);
    const Seq2Seq model(config, p);
    const NoGrad quiet;
    Pass pass;
    const std::vector<std::int32_t> ids(6, 7);
    const std::vector<std::int64_t> lengths{6};
    const auto stepper = model.start(model.encode({ids, lengths, 1, 6}, pass), true, {.layer = 0, .head = 0});
    for (int i = 0; i < 2; ++i) (void)stepper->step(std::vector<std::int32_t>{bos_id});
    const Tensor weights = stepper->attention();
    const auto [low, high] = std::minmax_element(weights.data(), weights.data() + 6);
    return *high - *low;
  };
  EXPECT_LT(spread(Positions::rotary), 1e-6);
  EXPECT_GT(spread(Positions::rotary_cross), 1e-3);
}

TEST(Seq2Seq, ATransformersDropoutRatesAreHeededEachForItself) {
  const auto loss = [](const DropoutRates& rates) {
    Parameters p(3);
    const Seq2Seq model(small(small_transformer(), small_transformer()), p);
    const test::BackwardsTask task(4, 7, 6, 1);
    PairBatch batch;
    batch.fill(task, task.all());
    Pass pass(rates, 9);
    return model.loss(batch.source.view(), batch.target.view(), batch.wanted.view().ids, {}, pass).loss.value().item();
  };
  const float without = loss({});
  EXPECT_EQ(loss({0, 0, 0}), without);
  EXPECT_NE(loss({0, 0.5F, 0}), without);
  EXPECT_NE(loss({0, 0, 0.5F}), without);
  EXPECT_NE(loss({0.5F, 0, 0}), without);
  EXPECT_EQ(loss({0.5F, 0.5F, 0.5F}), loss(0.5F));
}

TEST(Seq2Seq, ALineDecodesToTheSameAloneAndInABatch) {
  for (const auto& [name, config] : kinds()) {
    SCOPED_TRACE(name);
    Parameters p(4);
    const Seq2Seq model(config, p);
    const test::BackwardsTask task(7, 7, 9, 2);
    const auto decode = [&](const std::vector<std::int64_t>& which) {
      const NoGrad quiet;
      PairBatch batch;
      batch.fill(task, which);
      Pass pass;
      const auto stepper = model.start(model.encode(batch.source.view(), pass), true);
      std::vector<SearchInput> inputs;
      for (const auto n : batch.source.view().lengths) inputs.push_back({n, 0, {}});
      return search(*stepper, inputs, {.beam = 3, .n_best = 2, .max_length = 8, .attention = true});
    };
    const auto together = decode(task.all());
    for (std::int64_t i = 0; i < 7; ++i) {
      const auto alone = decode({i});
      for (std::size_t k = 0; k < alone[0].size(); ++k) {
        EXPECT_EQ(alone[0][k].tokens, together[static_cast<std::size_t>(i)][k].tokens);
        EXPECT_EQ(alone[0][k].score, together[static_cast<std::size_t>(i)][k].score);
        EXPECT_EQ(alone[0][k].attention, together[static_cast<std::size_t>(i)][k].attention);
      }
    }
  }
}

// A hypothesis that went on in the place of another must have taken its past with it.
TEST(Seq2Seq, AHypothesisOfABeamHasTheScoreOfItsTokens) {
  for (const auto& [name, config] : kinds()) {
    SCOPED_TRACE(name);
    Parameters p(4);
    const Seq2Seq model(config, p);
    const test::BackwardsTask task(3, 7, 9, 2);
    const NoGrad quiet;
    PairBatch batch;
    batch.fill(task, task.all());
    Pass pass;
    const auto stepper = model.start(model.encode(batch.source.view(), pass), false);
    std::vector<SearchInput> inputs;
    for (const auto n : batch.source.view().lengths) inputs.push_back({n, 0, {}});
    const auto found = search(*stepper, inputs, {.beam = 4, .n_best = 3, .max_length = 6});
    for (std::size_t s = 0; s < found.size(); ++s) {
      for (const Hypothesis& h : found[s]) {
        const auto line = task.source(static_cast<std::int64_t>(s));
        PaddedTokens read;
        PaddedTokens fed;
        PaddedTokens wanted;
        read.fill(
            1, Marks::end, [&](std::int64_t) -> const auto& { return line; });
        fed.fill(
            1, Marks::begin, [&](std::int64_t) -> const auto& { return h.tokens; });
        wanted.fill(
            1, Marks::end, [&](std::int64_t) -> const auto& { return h.tokens; });
        double expected = 0;
        model.score(read.view(), fed.view(), wanted.view().ids, {&expected, 1});
        EXPECT_NEAR(h.log_probability, expected, 1e-3);
      }
    }
  }
}

TEST(Seq2Seq, AnInterventionChangesAStepAsItChangesAllPositions) {
  using What = AttentionEdit::What;
  const Interventions edits{.attention = {{.what = What::cut, .kind = AttentionKind::cross, .key = 1},
                                          {.what = What::force, .layer = 0, .query = 2, .key = 0, .value = 0.75F}},
                            .tokens = {}};
  for (const auto& [name, config] : kinds()) {
    SCOPED_TRACE(name);
    Parameters p(4);
    const Seq2Seq model(config, p);
    const test::BackwardsTask task(1, 7, 9, 2);
    const NoGrad quiet;
    PairBatch batch;
    batch.fill(task, task.all());
    Pass pass;
    const Memory memory = model.encode(batch.source.view(), pass);
    const std::vector<std::int32_t> fed{bos_id, 5, 4, 6}, wanted{5, 4, 6, eos_id};
    const std::vector<std::int64_t> lengths{4};
    double expected = 0;
    model.generator().score(&memory, {fed, lengths, 1, 4}, wanted, {&expected, 1}, &edits);
    const auto stepper = model.generator().start(&memory, 1, false, {}, &edits);
    double total = 0;
    for (std::size_t t = 0; t < 4; ++t) {
      const Tensor logits = stepper->step({fed.data() + t, 1});
      double sum = 0;
      for (const float v : logits.values()) sum += std::exp(static_cast<double>(v));
      total += static_cast<double>(logits.data()[wanted[t]]) - std::log(sum);
    }
    EXPECT_NEAR(total, expected, 1e-4);
  }
}

TEST(Seq2Seq, RowsThatAreKeptTwiceBeforeAStepAreKeptOnce) {
  for (const auto& [name, config] : kinds()) {
    SCOPED_TRACE(name);
    Parameters p(4);
    const Seq2Seq model(config, p);
    const test::BackwardsTask task(2, 7, 9, 2);
    const NoGrad quiet;
    PairBatch batch;
    batch.fill(task, task.all());
    Pass pass;
    const Memory memory = model.encode(batch.source.view(), pass);
    const auto last = [&](const std::vector<std::vector<std::int32_t>>& kept) {
      const auto stepper = model.generator().start(&memory, 2, false);
      (void)stepper->step(std::vector<std::int32_t>{bos_id, bos_id});
      stepper->keep(std::vector<std::int32_t>{0, 0, 1, 1});
      (void)stepper->step(std::vector<std::int32_t>{4, 5, 6, 7});
      for (const auto& rows : kept) stepper->keep(rows);
      return stepper->step(std::vector<std::int32_t>{8, 9});
    };
    const Tensor twice = last({{3, 1, 0}, {2, 1}});
    const Tensor once = last({{0, 1}});
    for (std::int64_t i = 0; i < once.size(); ++i) ASSERT_EQ(twice.data()[i], once.data()[i]);
  }
}

TEST(Seq2Seq, StepsGiveTheSameBytesOnAnyNumberOfThreads) {
  const int before = threads();
  for (const char* name : {"transformer-tiny", "rnn-bahdanau", "rnn-luong", "rnn-plain", "cnn"}) {
    for (const Storage storage : {Storage::f32, Storage::int8}) {
      SCOPED_TRACE(fmt::format("{} {}", name, storage == Storage::f32 ? "fp32" : "int8"));
      ModelConfig config = preset(name);
      config.tokens().vocabulary = config.generator().vocabulary = 40;
      Parameters p(4);
      pack_weights(config, p, {.type = storage});
      const Seq2Seq model(config, p);
      const test::BackwardsTask task(50, 30, 9, 2);
      const auto run = [&](int count) {
        set_threads(count);
        const NoGrad quiet;
        PairBatch batch;
        batch.fill(task, task.all());
        Pass pass;
        const auto stepper = model.start(model.encode(batch.source.view(), pass));
        std::vector<std::int32_t> tokens(50, bos_id);
        for (int step = 0; step < 3; ++step) {
          (void)stepper->step(tokens);
          std::vector<std::int32_t> kept(50);
          for (std::int32_t r = 0; r < 50; ++r) kept[static_cast<std::size_t>(r)] = step == 0 ? 49 - r : r / 2 * 2;
          stepper->keep(kept);
          for (std::size_t r = 0; r < 50; ++r) tokens[r] = special_ids + static_cast<std::int32_t>(r) % 30;
        }
        return stepper->step(tokens);
      };
      const Tensor one = run(1);
      const Tensor three = run(3);
      set_threads(before);
      for (std::int64_t i = 0; i < one.size(); ++i) ASSERT_EQ(one.data()[i], three.data()[i]);
    }
  }
}

// A backward pass needs nothing of the arrays that the forward pass was given.
TEST(Seq2Seq, TokensMayGoBeforeTheBackwardPass) {
  for (const auto& [name, config] : kinds()) {
    SCOPED_TRACE(name);
    std::vector<Tensor> gradients[2];
    for (const bool overwritten : {false, true}) {
      Parameters p(3);
      const Seq2Seq model(config, p);
      const test::BackwardsTask task(3, 7, 6, 1);
      PairBatch batch;
      batch.fill(task, task.all());
      Pass pass({0.1F}, 9);
      const BatchLoss cost = model.loss(batch.source.view(), batch.target.view(), batch.wanted.view().ids, {}, pass);
      if (overwritten) {
        for (const Tokens& tokens : {batch.source.view(), batch.target.view(), batch.wanted.view()}) {
          std::fill_n(const_cast<std::int32_t*>(tokens.ids.data()), tokens.ids.size(), -1);
          std::fill_n(const_cast<std::int64_t*>(tokens.lengths.data()), tokens.lengths.size(), std::int64_t{1} << 40);
        }
      }
      backward(cost.loss);
      for (const auto& e : p.entries()) gradients[overwritten ? 1 : 0].push_back(e.weight.grad());
    }
    for (std::size_t i = 0; i < gradients[0].size(); ++i) {
      EXPECT_TRUE(std::ranges::equal(gradients[0][i].contiguous().values(), gradients[1][i].contiguous().values()));
    }
  }
}

// The whole model's gradient, by a central difference along a random direction in all weights at once.
TEST(Seq2Seq, TheGradientMatchesADifferenceAlongADirection) {
  for (const auto& [name, config] : kinds()) {
    SCOPED_TRACE(name);
    Parameters p(5);
    const Seq2Seq model(config, p);
    const test::BackwardsTask task(4, 7, 5, 3);
    PairBatch batch;
    batch.fill(task, task.all());
    const auto loss = [&](float dropout) {
      Pass pass(dropout, 9);
      return model
          .loss(batch.source.view(), batch.target.view(), batch.wanted.view().ids, {.label_smoothing = 0.1F}, pass)
          .loss;
    };
    for (const float dropout : {0.0F, 0.3F}) {
      for (const auto& e : p.entries()) e.weight.zero_grad();
      backward(loss(dropout));
      // Half along the gradient, where the slope is steep, half at random, where every weight counts.
      Rng rng(6);
      std::vector<Tensor> directions;
      double g_norm = 0;
      double r_norm = 0;
      for (const auto& e : p.entries()) {
        directions.push_back(Tensor::empty(e.weight.shape()));
        for (float& v : directions.back().values()) v = static_cast<float>(rng.normal());
        for (const float v : directions.back().values()) r_norm += v * v;
        for (const float v : e.weight.grad().values()) g_norm += v * v;
      }
      double slope = 0;
      for (std::size_t k = 0; k < directions.size(); ++k) {
        const Tensor g = p.entries()[k].weight.grad();
        for (std::int64_t i = 0; i < g.size(); ++i) {
          float& d = directions[k].data()[i];
          d = static_cast<float>(d / std::sqrt(r_norm) + g.data()[i] / std::sqrt(g_norm));
          slope += static_cast<double>(g.data()[i]) * d;
        }
      }
      const auto shifted = [&](double h) {
        const NoGrad quiet;
        std::vector<Tensor> before;
        for (std::size_t k = 0; k < directions.size(); ++k) {
          const Tensor w = p.entries()[k].weight.value();
          before.push_back(w.clone());
          for (std::int64_t i = 0; i < w.size(); ++i) w.data()[i] += static_cast<float>(h * directions[k].data()[i]);
        }
        const double value = loss(dropout).value().item();
        for (std::size_t k = 0; k < directions.size(); ++k) p.entries()[k].weight.value().copy_from(before[k]);
        return value;
      };
      const double h = 5e-4;  // small: a relu that changes sides bends the line
      const double numeric = (8 * (shifted(h) - shifted(-h)) - (shifted(2 * h) - shifted(-2 * h))) / (12 * h);
      EXPECT_NEAR(slope, numeric, 0.01 * std::max(1.0, std::abs(numeric))) << "dropout " << dropout;
    }
  }
}

TEST(Seq2Seq, AConfigurationThatCannotBeIsNamed) {
  Parameters p;
  TransformerConfig part = small_transformer();
  part.heads = 3;
  const ModelConfig c = small(part, part);
  EXPECT_THROW(Seq2Seq(c, p), UsageError);
  EXPECT_THROW((void)preset("transformer-huge"), UsageError);
}

}  // namespace
}  // namespace fovea
