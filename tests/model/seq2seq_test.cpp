#include "model/seq2seq.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "decode/search.hpp"
#include "fovea/error.hpp"
#include "support/copy_task.hpp"

namespace fovea {
namespace {

ModelConfig small(Arch encoder, Arch decoder) {
  ModelConfig c;
  c.encoder = encoder;
  c.decoder = decoder;
  c.layers = 2;
  c.dim = 16;
  c.ffn = 24;
  c.heads = 2;
  c.source_vocabulary = 11;
  c.target_vocabulary = 12;
  return c;
}

std::vector<std::pair<std::string, ModelConfig>> kinds() {
  std::vector<std::pair<std::string, ModelConfig>> all;
  const auto add = [&all](const std::string& name, const ModelConfig& c) { all.emplace_back(name, c); };
  for (const Arch e : {Arch::rnn, Arch::cnn, Arch::transformer}) {
    for (const Arch d : {Arch::rnn, Arch::cnn, Arch::transformer}) add(enum_text(e) + "-" + enum_text(d), small(e, d));
  }
  for (const RnnAttention a :
       {RnnAttention::none, RnnAttention::additive, RnnAttention::dot, RnnAttention::scaled_dot, RnnAttention::general,
        RnnAttention::concat, RnnAttention::location, RnnAttention::cosine}) {
    for (const RnnForm form : {RnnForm::bahdanau, RnnForm::luong, RnnForm::conditional}) {
      if (form == RnnForm::conditional && a == RnnAttention::none) continue;
      for (const Cell cell : {Cell::gru, Cell::lstm}) {
        auto r = small(Arch::rnn, Arch::rnn);
        r.attention = a;
        r.form = form;
        r.cell = cell;
        r.layers = form == RnnForm::luong ? 2 : 1;
        r.bidirectional = cell == Cell::gru;
        r.input_feeding = form == RnnForm::luong && cell == Cell::lstm;
        add(fmt::format("rnn {} {} {}", enum_text(a), enum_text(form), enum_text(cell)), r);
      }
    }
  }
  for (const LocalKind local : {LocalKind::monotonic, LocalKind::predictive}) {
    auto r = small(Arch::rnn, Arch::rnn);
    r.local = local;
    r.local_window = 2;
    add("rnn local " + enum_text(local), r);
  }
  auto covered = small(Arch::rnn, Arch::rnn);
  covered.coverage = true;
  add("rnn coverage", covered);
  auto undivided = small(Arch::transformer, Arch::transformer);
  undivided.attention = RnnAttention::dot;
  add("transformer, undivided scores", undivided);
  auto c = small(Arch::transformer, Arch::transformer);
  c.norm = Norm::post;
  c.positions = Positions::learned;
  add("post-norm, learned positions", c);
  c.positions = Positions::rotary;
  c.tie = Tie::target;
  add("rotary, tied", c);
  c.positions = Positions::rotary_cross;
  add("rotary, across too", c);
  c.positions = Positions::alibi;
  c.tie = Tie::all;
  c.shared_vocabulary = true;
  c.source_vocabulary = c.target_vocabulary;
  add("alibi, all tied", c);
  return all;
}

// Decoding a token at a time must give what teacher forcing gives, whatever rows are beside it.
TEST(Seq2Seq, StepsGiveTheSameProbabilitiesAsAllPositionsAtOnce) {
  for (const auto& [name, config] : kinds()) {
    SCOPED_TRACE(name);
    Parameters p(3);
    const Seq2Seq model(config, p);
    const test::BackwardsTask task(5, 7, 6, 1);
    MicroBatch batch;
    batch.fill(task, task.all());
    std::vector<double> expected(5);
    model.score(batch.source_view(), batch.target_view(), batch.wanted, expected);

    const NoGrad quiet;
    Pass pass;
    const Memory memory = model.encode(batch.source_view(), pass);
    const auto stepper = model.start(memory, true);
    std::vector<double> total(5, 0.0);
    for (std::int64_t t = 0; t < batch.target_length; ++t) {
      std::vector<std::int32_t> tokens;
      for (std::int64_t r = 0; r < 5; ++r)
        tokens.push_back(batch.target[static_cast<std::size_t>(r * batch.target_length + t)]);
      const Tensor scores = stepper->step(tokens);
      const Tensor attention = stepper->attention();
      for (std::int64_t r = 0; r < 5; ++r) {
        const std::int32_t wanted = batch.wanted[static_cast<std::size_t>(r * batch.target_length + t)];
        if (wanted == pad_id) continue;
        double sum = 0;
        for (std::int64_t k = 0; k < scores.dim(1); ++k) sum += std::exp(scores.data()[r * scores.dim(1) + k]);
        total[static_cast<std::size_t>(r)] += scores.data()[r * scores.dim(1) + wanted] - std::log(sum);
        if (attention && config.local == LocalKind::none) {  // a Gaussian factor leaves less than 1
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

// A softmax that starts saturated passes no gradient on: for long nothing is learned about where to look.
TEST(Seq2Seq, AnUntrainedModelLooksAtMuchOfTheSource) {
  for (const char* const name : preset_names()) {
    for (const Positions positions : {Positions::sinusoidal, Positions::learned}) {
      SCOPED_TRACE(name);
      ModelConfig config = preset(name);
      config.positions = positions;
      config.source_vocabulary = config.target_vocabulary = 100;
      Parameters p(3);
      const Seq2Seq model(config, p);
      const test::BackwardsTask task(4, 90, 24, 1);
      MicroBatch batch;
      batch.fill(task, task.all());
      const NoGrad quiet;
      Pass pass;
      const Memory memory = model.encode(batch.source_view(), pass);
      const auto stepper = model.start(memory, true);
      (void)stepper->step(std::vector<std::int32_t>(4, bos_id));
      for (const Tensor& weights : stepper->layer_attention()) {  // [rows, heads, keys]
        const std::int64_t keys = weights.dim(-1);
        for (std::int64_t i = 0; i < weights.size() / keys; ++i) {
          double entropy = 0;
          for (std::int64_t k = 0; k < keys; ++k) {
            const double w = weights.contiguous().data()[i * keys + k];
            if (w > 0) entropy -= w * std::log(w);
          }
          const auto length = batch.source_lengths[static_cast<std::size_t>(i / weights.dim(1))];
          EXPECT_GT(std::exp(entropy), 0.3 * static_cast<double>(length)) << "row " << i << " of " << length;
        }
      }
    }
  }
}

// Embeddings that start too small leave an RNN's gates where they are, whatever word there is.
TEST(Seq2Seq, AnUntrainedModelTellsWordsApart) {
  for (const char* const name : preset_names()) {
    ModelConfig config = preset(name);
    config.source_vocabulary = config.target_vocabulary = 100;
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
    config.scaled_embeddings = false;
    if (config.encoder != Arch::rnn) continue;
    EXPECT_LT(difference(), 0.1) << name;
  }
}

TEST(ModelConfig, OneMadeBeforeEmbeddingsCouldBeScaledIsReadAsItWasMade) {
  for (const char* const name : preset_names()) {
    ModelConfig config = preset(name);
    config.source_vocabulary = config.target_vocabulary = 100;
    nlohmann::json json = to_json(config);
    EXPECT_TRUE(model_config_from_json(json, "config.json").scaled_embeddings) << name;
    json["scaled-embeddings"] = false;
    if (config.encoder == Arch::rnn) {
      EXPECT_FALSE(model_config_from_json(json, "config.json").scaled_embeddings) << name;
    } else {
      EXPECT_THROW((void)model_config_from_json(json, "config.json"), FileError) << name;
    }
    json.erase("scaled-embeddings");
    EXPECT_EQ(model_config_from_json(json, "config.json").scaled_embeddings, config.encoder != Arch::rnn) << name;
  }
}

TEST(ModelConfig, NumbersAreTakenAsTheyAreWritten) {
  ModelConfig config = preset("transformer-tiny");
  config.source_vocabulary = config.target_vocabulary = 100;
  for (const nlohmann::json& wrong : {nlohmann::json(1'000'000'000'000), nlohmann::json(128.5), nlohmann::json("128"),
                                      nlohmann::json(nullptr), nlohmann::json(-5'000'000'000)}) {
    nlohmann::json json = to_json(config);
    json["dim"] = wrong;
    try {
      (void)model_config_from_json(json, "config.json");
      ADD_FAILURE() << wrong;
    } catch (const FileError& error) {
      EXPECT_NE(std::string(error.what()).find("\"dim\" is " + wrong.dump()), std::string::npos) << error.what();
    }
  }
}

TEST(Seq2Seq, ATransformersDotIsNotDivided) {
  const auto score = [](RnnAttention attention) {
    ModelConfig config = small(Arch::transformer, Arch::transformer);
    config.attention = attention;
    Parameters p(3);
    const Seq2Seq model(config, p);
    const test::BackwardsTask task(1, 7, 6, 1);
    MicroBatch batch;
    batch.fill(task, task.all());
    std::vector<double> out(1);
    model.score(batch.source_view(), batch.target_view(), batch.wanted, out);
    return out[0];
  };
  EXPECT_EQ(score(RnnAttention::scaled_dot), score(RnnAttention::additive));  // what an RNN's would be does not matter
  EXPECT_GT(std::abs(score(RnnAttention::scaled_dot) - score(RnnAttention::dot)), 1e-4);
}

// Equal words are encoded to equal states where no position is added to them: only what turns with their place between
// source and target can tell them apart.
TEST(Seq2Seq, RotaryPositionsAcrossTellThePlacesOfEqualWordsApart) {
  const auto spread = [](Positions positions) {  // of the weights of the first layer's first head, at the second step
    ModelConfig config = small(Arch::transformer, Arch::transformer);
    config.positions = positions;
    Parameters p(3);
    const Seq2Seq model(config, p);
    const NoGrad quiet;
    Pass pass;
    const std::vector<std::int32_t> ids(6, 7);
    const std::vector<std::int64_t> lengths{6};
    const auto stepper = model.start(model.encode({ids, lengths, 1, 6}, pass), true);
    for (int i = 0; i < 2; ++i) (void)stepper->step(std::vector<std::int32_t>{bos_id});
    const Tensor weights = stepper->layer_attention()[0].contiguous();
    const auto [low, high] = std::minmax_element(weights.data(), weights.data() + 6);
    return *high - *low;
  };
  EXPECT_LT(spread(Positions::rotary), 1e-6);
  EXPECT_GT(spread(Positions::rotary_cross), 1e-3);
}

TEST(Seq2Seq, ATransformersDropoutRatesAreHeededEachForItself) {
  const auto loss = [](const DropoutRates& rates) {
    Parameters p(3);
    const Seq2Seq model(small(Arch::transformer, Arch::transformer), p);
    const test::BackwardsTask task(4, 7, 6, 1);
    MicroBatch batch;
    batch.fill(task, task.all());
    Pass pass{.dropout = rates, .seed = 9};
    return model.loss(batch.source_view(), batch.target_view(), batch.wanted, {}, pass).loss.value().item();
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
      MicroBatch batch;
      batch.fill(task, which);
      Pass pass;
      const auto stepper = model.start(model.encode(batch.source_view(), pass), true);
      std::vector<SearchInput> inputs;
      for (const auto n : batch.source_lengths) inputs.push_back({n, 0, {}});
      return search(*stepper, inputs, {.beam = 3, .n_best = 2, .max_length = 8, .want_attention = true});
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

// The whole model's gradient, by a central difference along a random direction in all weights at once.
TEST(Seq2Seq, TheGradientMatchesADifferenceAlongADirection) {
  for (const auto& [name, config] : kinds()) {
    SCOPED_TRACE(name);
    Parameters p(5);
    const Seq2Seq model(config, p);
    const test::BackwardsTask task(4, 7, 5, 3);
    MicroBatch batch;
    batch.fill(task, task.all());
    const auto loss = [&](float dropout) {
      Pass pass{.dropout = dropout, .seed = 9};
      return model.loss(batch.source_view(), batch.target_view(), batch.wanted, {.label_smoothing = 0.1F}, pass).loss;
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
  auto c = small(Arch::transformer, Arch::transformer);
  c.heads = 3;
  EXPECT_THROW(Seq2Seq(c, p), UsageError);
  EXPECT_THROW((void)preset("transformer-huge"), UsageError);
}

}  // namespace
}  // namespace fovea
