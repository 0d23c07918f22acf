// The numbers of a run, interventions and probes, on models of every architecture.
#include "fovea/inspector.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "fovea/error.hpp"
#include "support/scratch.hpp"
#include "support/tiny_model.hpp"

namespace fovea {
namespace {

using What = AttentionEdit::What;

ModelConfig tiny_cnn() {
  ModelConfig config = preset("cnn");
  for (CnnConfig* part : {&std::get<CnnConfig>(config.encoder), &std::get<CnnConfig>(config.generator().decoder)}) {
    part->layers = 2;
    part->dim = 16;
  }
  config.tokens().embedding = config.generator().embedding = 16;
  return config;
}

ModelConfig tiny_luong() {
  ModelConfig config = preset("rnn-luong");
  std::get<RnnEncoderConfig>(config.encoder).dim = 16;
  std::get<RnnDecoderConfig>(config.generator().decoder).dim = 16;
  config.tokens().embedding = config.generator().embedding = 16;
  return config;
}

ModelConfig tiny_plain() {
  ModelConfig config = test::tiny_rnn();
  std::get<RnnDecoderConfig>(config.generator().decoder).attention = RnnAttention::none;
  return config;
}

ModelConfig rotary_transformer() {
  ModelConfig config = test::tiny_transformer();
  std::get<TransformerConfig>(config.encoder).positions = Positions::rotary;
  std::get<TransformerConfig>(config.generator().decoder).positions = Positions::rotary;
  return config;
}

struct Model {
  explicit Model(const ModelConfig& config) : translator_folder(), translator(write(config)) {}
  std::filesystem::path write(const ModelConfig& config) {
    test::write_tiny_model(translator_folder.folder(), config, "en-de");
    return translator_folder.folder();
  }
  test::Scratch translator_folder;
  Translator translator;
};

const std::string kLine = "one two three four";
const GenerateOptions kShort{.beam = 2, .min_length = 3, .max_length = 5};

std::vector<ModelConfig> all_kinds() {
  return {test::tiny_transformer(), rotary_transformer(), test::tiny_rnn(), tiny_luong(), tiny_cnn()};
}

TEST(Inspector, HasTheOutputWeightsAndProbabilitiesOfTheSearch) {
  for (const ModelConfig& config : all_kinds()) {
    const Model model(config);
    const Inspector inspector(model.translator);
    const ModelRun run = inspector.run(kLine, kShort);
    GenerateOptions how = kShort;
    how.attention = true;
    how.kinds = {AttentionKind::cross, AttentionKind::encoder, AttentionKind::decoder};
    const Generated found = model.translator.translate(kLine, how);
    EXPECT_EQ(run.output, found.text);
    EXPECT_EQ(run.target, found.attention.target);
    const AttentionRecord& record = found.attention;
    ASSERT_EQ(run.attention.maps.size(), record.maps.size());
    for (std::size_t m = 0; m < record.maps.size(); ++m) {
      for (std::size_t i = 0; i < record.maps[m].weights.values.size(); ++i) {
        ASSERT_NEAR(run.attention.maps[m].weights.values[i], record.maps[m].weights.values[i], 1e-5);
      }
    }
    double log_probability = 0;
    for (std::size_t t = 0; t < run.target.size(); ++t) {
      for (const Candidate& one : run.next[t]) {
        if (one.text == run.target[t]) log_probability += one.log_probability;
      }
    }
    EXPECT_NEAR(log_probability, found.log_probability, 1e-4);
    EXPECT_NEAR(inspector.score(kLine, found.text), found.log_probability, 1e-4);
  }
}

// Every score is the sum over its query and key, every weight the softmax of the scores, every context the sum of
// values.
TEST(Inspector, NumbersAddUp) {
  for (const ModelConfig& config : {test::tiny_transformer(), rotary_transformer()}) {
    const Model model(config);
    const ModelRun run = Inspector(model.translator).run(kLine, kShort);
    for (const std::string site : {"encoder.1.self", "decoder.0.self", "decoder.1.cross"}) {
      const Tensor& q = run.trace.at(site + ".query");
      const Tensor& k = run.trace.at(site + ".key");
      const Tensor& v = run.trace.at(site + ".value");
      const Tensor& s = run.trace.at(site + ".scores");
      const Tensor& masked = run.trace.at(site + ".masked");
      const Tensor& w = run.trace.at(site + ".weights");
      const Tensor& z = run.trace.at(site + ".context");
      const std::int64_t queries = q.dim(1), keys = k.dim(1), width = 8;
      for (std::int64_t h = 0; h < 2; ++h) {
        for (std::int64_t i = 0; i < queries; ++i) {
          double sum = 0;
          for (std::int64_t j = 0; j < keys; ++j) {
            double dot = 0;
            for (std::int64_t c = 0; c < width; ++c) {
              dot += static_cast<double>(q.data()[i * 16 + h * width + c]) * k.data()[j * 16 + h * width + c];
            }
            ASSERT_NEAR(s.data()[(h * queries + i) * keys + j], dot / std::sqrt(8.0), 1e-5) << site;
            sum += std::exp(static_cast<double>(masked.data()[(h * queries + i) * keys + j]));
          }
          for (std::int64_t c = 0; c < width; ++c) {
            double mixed = 0;
            for (std::int64_t j = 0; j < keys; ++j) {
              const double weight = w.data()[(h * queries + i) * keys + j];
              ASSERT_NEAR(weight, std::exp(static_cast<double>(masked.data()[(h * queries + i) * keys + j])) / sum,
                          1e-5);
              mixed += weight * v.data()[j * 16 + h * width + c];
            }
            ASSERT_NEAR(z.data()[i * 16 + h * width + c], mixed, 1e-5);
          }
        }
      }
    }
  }
}

TEST(Inspector, AnRnnsStepsAddUp) {
  const Model model(test::tiny_rnn());
  const ModelRun run = Inspector(model.translator).run(kLine, kShort);
  const Tensor& q = run.trace.at("decoder.attention.query");
  const Tensor& k = run.trace.at("decoder.attention.key");
  const Tensor& s = run.trace.at("decoder.attention.scores");
  const Tensor& w = run.trace.at("decoder.attention.weights");
  const Tensor& c = run.trace.at("decoder.attention.context");
  const Tensor& m = run.trace.at("encoder.output");
  const Tensor v = run.weight("decoder.attention.vector")->contiguous();
  for (std::int64_t t = 0; t < s.dim(1); ++t) {
    for (std::int64_t j = 0; j < s.dim(2); ++j) {
      double sum = 0;
      for (std::int64_t d = 0; d < q.dim(2); ++d) {
        sum += v.data()[d] * std::tanh(static_cast<double>(q.data()[t * q.dim(2) + d]) + k.data()[j * k.dim(2) + d]);
      }
      EXPECT_NEAR(s.data()[t * s.dim(2) + j], sum, 1e-5);
    }
    double context = 0;
    for (std::int64_t j = 0; j < s.dim(2); ++j)
      context += static_cast<double>(w.data()[t * s.dim(2) + j]) * m.data()[j * m.dim(2)];
    EXPECT_NEAR(c.data()[t * c.dim(2)], context, 1e-5);
  }
}

TEST(Inspector, WithoutAttentionThereIsTheOneVector) {
  const Model model(tiny_plain());
  const ModelRun run = Inspector(model.translator).run(kLine, kShort);
  EXPECT_EQ(run.trace.at("decoder.summary").dim(0), 1);
  EXPECT_TRUE(run.attention.maps.empty());
  EXPECT_EQ(run.next.size(), run.target.size());
}

// The same token by token in the search as all at once.
TEST(Inspector, InterventionsActAlikeInSearchAndInTeacherForcing) {
  for (const ModelConfig& config : all_kinds()) {
    const Model model(config);
    const Inspector inspector(model.translator);
    const GenerateOptions plain = kShort;
    const Generated before = model.translator.translate(kLine, plain);
    std::vector<Interventions> changes{
        {.attention = {{.what = What::force, .kind = AttentionKind::cross, .query = 1, .key = 0}}},
        {.attention = {{.what = What::uniform, .kind = AttentionKind::cross, .layer = 0}}},
        {.attention = {{.what = What::silence, .kind = AttentionKind::cross, .head = 0}}},
        {.attention = {{.what = What::temperature, .value = 0.2F}}},
        {.attention = {{.what = What::cut, .key = 0}}},
        {.tokens = {{.token = 1}}},
        {.tokens = {{.token = 1, .swapped = "seven"}}},
    };
    for (const Interventions& change : changes) {
      GenerateOptions how = plain;
      how.interventions = change;
      const Generated after = model.translator.translate(kLine, how);
      EXPECT_NEAR(inspector.score(kLine, after.text, change), after.log_probability, 1e-4);
      EXPECT_GT(std::abs(inspector.score(kLine, before.text, change) - before.log_probability), 1e-7);
    }
  }
}

TEST(Inspector, ASwappedTokenIsAsIfItHadBeenWritten) {
  const Model model(test::tiny_transformer());
  GenerateOptions how = kShort;
  how.interventions.tokens = {{.token = 1, .swapped = "seven"}, {.token = 99, .swapped = "six"}};
  const Generated swapped = model.translator.translate(kLine, how);
  const Generated written = model.translator.translate("one seven three four", kShort);
  EXPECT_EQ(swapped.text, written.text);
  EXPECT_NEAR(swapped.log_probability, written.log_probability, 1e-4);
  how.interventions.tokens = {{.token = 1, .swapped = "six seven"}};
  EXPECT_THROW((void)model.translator.translate(kLine, how), UsageError);
}

TEST(Inspector, AMaskedTokenHasNoWeightAnywhere) {
  const Model model(test::tiny_transformer());
  GenerateOptions how = kShort;
  how.attention = true;
  how.kinds = {AttentionKind::cross, AttentionKind::encoder};
  how.interventions.tokens = {{.token = 2}};
  const Generated t = model.translator.translate(kLine, how);
  ASSERT_EQ(t.attention.maps.size(), 8U);
  for (const AttentionMap& map : t.attention.maps) {
    for (std::int64_t r = 0; r < map.weights.rows; ++r) EXPECT_EQ(map.weights.at(r, 2), 0);
  }
}

TEST(Inspector, ProbeRanksWhatItRemoved) {
  const Model model(test::tiny_transformer());
  const Inspector inspector(model.translator);
  std::int64_t last = 0;
  ProbeOptions options;
  options.decoding = kShort;
  const Probe probe = inspector.probe(kLine, options, [&](std::int64_t done, std::int64_t) { last = done; });
  const auto n = static_cast<std::int64_t>(model.translator.translate(kLine, kShort).attention.target.size());
  const std::size_t edges = static_cast<std::size_t>(n * 5 + 5 * 5 + n * (n + 1) / 2);
  EXPECT_EQ(probe.removals.size(), 12U + edges);
  EXPECT_EQ(last, static_cast<std::int64_t>(probe.removals.size()));
  for (std::size_t i = 1; i < probe.removals.size(); ++i) {
    EXPECT_GE(std::abs(probe.removals[i - 1].change), std::abs(probe.removals[i].change));
  }
  const Removal& top = probe.removals[0];
  EXPECT_NEAR(inspector.score(kLine, probe.output, {.attention = {top.edit}}) - probe.log_probability, top.change,
              1e-5);
}

TEST(Inspector, GradientTimesInputIsTheGradient) {
  const Model model(test::tiny_rnn());
  const Inspector inspector(model.translator);
  const auto all = inspector.explanations(kLine, kShort);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].method, "attention");
  EXPECT_EQ(all[1].weights.values, all[0].weights.values) << "an RNN has no self-attention to roll out";
  EXPECT_EQ(all[2].method, "gradient");
  for (const Explanation& one : all) EXPECT_TRUE(std::isfinite(one.deletion)) << one.method;
  EXPECT_EQ(all[2].weights.columns, 5);
}

TEST(Inspector, RolloutRowsSumToOne) {
  const Model model(test::tiny_transformer());
  const auto all = Inspector(model.translator).explanations(kLine, kShort);
  ASSERT_EQ(all[1].method, "rollout");
  EXPECT_NE(all[1].weights.values, all[0].weights.values);
  for (std::int64_t r = 0; r < all[1].weights.rows; ++r) {
    double sum = 0;
    for (std::int64_t c = 0; c < all[1].weights.columns; ++c) sum += all[1].weights.at(r, c);
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST(Inspector, LongLinesHaveTheirLargestWeights) {
  for (const ModelConfig& config : all_kinds()) {
    const Model model(config);
    GenerateOptions how = kShort;
    how.attention = true;
    how.kinds = {AttentionKind::cross, AttentionKind::encoder, AttentionKind::decoder};
    const AttentionRecord all = model.translator.translate(kLine, how).attention;
    how.top_weights = 2;
    const AttentionRecord some = model.translator.translate(kLine, how).attention;
    ASSERT_EQ(all.maps.size(), some.maps.size());
    EXPECT_TRUE(some.weights.values.empty());
    EXPECT_EQ(some.largest.count, 2);
    for (std::size_t m = 0; m < all.maps.size(); ++m) {
      const LargestWeights& largest = some.maps[m].largest;
      ASSERT_EQ(largest.rows, all.maps[m].weights.rows);
      for (std::int64_t r = 0; r < largest.rows; ++r) {
        for (std::int64_t n = 0; n < largest.count; ++n) {
          const auto at = static_cast<std::size_t>(r * largest.count + n);
          EXPECT_NEAR(largest.weight[at], all.maps[m].weights.at(r, largest.index[at]), 1e-5);
        }
      }
    }
    const AttentionRecord read = parse_attention(to_json(some), "record");
    EXPECT_EQ(read.largest.index, some.largest.index);
    EXPECT_EQ(read.maps.size(), some.maps.size());
  }
}

}  // namespace
}  // namespace fovea
