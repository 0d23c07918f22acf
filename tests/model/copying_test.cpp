// Models that copy, and models that read turns: a token at a time gives the same as all at once, whatever else is in
// the batch.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/error.hpp"
#include "fovea/model/seq2seq.hpp"
#include "model/kinds.hpp"
#include "support/parameter_gradcheck.hpp"

namespace fovea {
namespace {

using Rows = std::vector<std::vector<std::int32_t>>;

struct Batch {
  PaddedTokens source, target, wanted;
  Batch(const Rows& sources, const Rows& copies, const Rows& targets, std::int32_t vocabulary) {
    const auto of = [](const Rows& rows) {
      return [&rows](std::int64_t r) { return std::span<const std::int32_t>(rows[static_cast<std::size_t>(r)]); };
    };
    const auto count = static_cast<std::int64_t>(sources.size());
    source.fill(count, Marks::end, of(sources));
    if (!copies.empty()) source.fill_copies(of(copies));
    target.fill(count, Marks::begin, of(targets));
    target.cut_ids(vocabulary);
    wanted.fill(count, Marks::end, of(targets));
  }
};

const Rows kSources{{4, 5, 1, 6}, {7, 1, 1}};
const Rows kCopies{{4, 11, 12, 6}, {12, 13, 14}};
const Rows kTargets{{11, 12, 4, 12}, {14, 5}};

std::vector<std::pair<std::string, ModelConfig>> copying_kinds() {
  std::vector<std::pair<std::string, ModelConfig>> all;
  for (auto [name, config] : test::kinds()) {
    if (!config.attends() || test::is_local(config)) continue;
    config.generator().copy = true;
    all.emplace_back(name, config);
  }
  return all;
}

// Steps through `targets`, each row fed its own; gives log p of each.
std::vector<double> stepped(const Seq2Seq& model, const Batch& batch) {
  const NoGrad quiet;
  Pass pass;
  const Memory memory = model.encode(batch.source.view(), pass);
  const auto stepper = model.start(memory);
  EXPECT_TRUE(stepper->normalized());
  const Tokens wanted = batch.wanted.view();
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(wanted.batch), bos_id);
  std::vector<double> total(tokens.size(), 0.0);
  for (std::int64_t t = 0; t < wanted.length; ++t) {
    const Tensor scores = stepper->step(tokens);
    for (std::int64_t r = 0; r < wanted.batch; ++r) {
      const std::int32_t id = wanted.ids[static_cast<std::size_t>(r * wanted.length + t)];
      double sum = 0;
      for (std::int64_t v = 0; v < scores.dim(1); ++v) sum += std::exp(scores.data()[r * scores.dim(1) + v]);
      EXPECT_NEAR(sum, 1, 1e-4);
      if (id != pad_id) total[static_cast<std::size_t>(r)] += scores.data()[r * scores.dim(1) + id];
      tokens[static_cast<std::size_t>(r)] = id;  // also words that only the source has
    }
  }
  return total;
}

TEST(Copying, StepsGiveTheSameProbabilitiesAsAllPositionsAtOnce) {
  for (const auto& [name, config] : copying_kinds()) {
    SCOPED_TRACE(name);
    Parameters p(3);
    const Seq2Seq model(config, p);
    const Batch batch(kSources, kCopies, kTargets, config.generator().vocabulary);
    std::vector<double> expected(2);
    model.score(batch.source.view(), batch.target.view(), batch.wanted.view().ids, expected);
    const auto total = stepped(model, batch);
    for (std::size_t r = 0; r < 2; ++r) {
      EXPECT_NEAR(total[r], expected[r], 1e-3);
      // The same bytes alone.
      const Batch alone({kSources[r]}, {kCopies[r]}, {kTargets[r]}, config.generator().vocabulary);
      EXPECT_EQ(stepped(model, alone)[0], total[r]);
    }
    std::vector<float> copied(batch.wanted.view().ids.size());
    const NoGrad quiet;
    Pass pass;
    model.generator().copied(model.encode(batch.source.view(), pass), batch.target.view(), batch.wanted.view().ids,
                             copied);
    EXPECT_EQ(copied[1], 1) << "word 12 is in no vocabulary";
    EXPECT_EQ(copied[6], 0) << "word 5 is not in the source";
  }
}

TEST(Copying, GradientsOfTheWholeModelMatchFiniteDifferences) {
  TransformerConfig t{.layers = 1, .dim = 8, .ffn = 6, .heads = 2, .activation = Activation::gelu};
  for (const DecoderConfig& decoder :
       {DecoderConfig(t), DecoderConfig(CnnConfig{.layers = 1, .dim = 6, .max_positions = 8}),
        DecoderConfig(RnnDecoderConfig{.dim = 6})}) {
    SCOPED_TRACE(kind_of(decoder));
    ModelConfig config = test::small(RnnEncoderConfig{.dim = 4}, decoder);
    config.generator().embedding = 8;
    config.generator().copy = true;
    const Batch batch(kSources, kCopies, kTargets, config.generator().vocabulary);
    test::check_gradients(
        [&](Parameters& p, const std::vector<Var>&) {
          const Seq2Seq model(config, p);
          Pass pass;
          return model
              .loss(batch.source.view(), batch.target.view(), batch.wanted.view().ids,
                    {.label_smoothing = 0.1F, .coverage_loss = 0.5F}, pass)
              .loss;
        },
        {}, {.step = 4e-3, .tolerance = 1.5e-2, .per_input = 6});
  }
}

TEST(Copying, WithoutTheSourcesIdsItIsRefused) {
  ModelConfig config = test::small(test::small_transformer(), test::small_transformer());
  config.generator().copy = true;
  Parameters p(1);
  const Seq2Seq model(config, p);
  const Batch batch(kSources, {}, kTargets, 12);
  Pass pass;
  EXPECT_THROW((void)model.loss(batch.source.view(), batch.target.view(), batch.wanted.view().ids, {}, pass),
               UsageError);
  EXPECT_THROW((void)model.start(model.encode(batch.source.view(), pass)), UsageError);
}

// Three turns, one, and more turns than there are embeddings.
const Rows kTurns{{4, 5, bos_id, 6, bos_id, 7, 8, 9}, {4}, {4, bos_id, 5, bos_id, 6, bos_id, 7}};
const Rows kReplies{{5, 6}, {7}, {4, 4, 4}};

std::vector<ModelConfig> turn_kinds() {
  std::vector<ModelConfig> all;
  const EncoderConfig encoders[] = {RnnEncoderConfig{.layers = 2, .dim = 16}, CnnConfig{.layers = 2, .dim = 16},
                                    test::small_transformer()};
  for (const EncoderConfig& encoder : encoders) {
    for (const Turns turns : {Turns::flat, Turns::hierarchical}) {
      ModelConfig c = test::small(encoder, test::small_transformer());
      TurnSourceConfig source;
      static_cast<TokenSourceConfig&>(source) = c.tokens();
      source.turns = turns;
      source.max_turns = 3;
      c.source = source;
      all.push_back(c);
    }
  }
  return all;
}

TEST(Turns, ALinesScoreDoesNotDependOnTheOthersButOnItsTurns) {
  for (const ModelConfig& config : turn_kinds()) {
    SCOPED_TRACE(std::string(kind_of(config.encoder)) + " " +
                 enum_text(std::get<TurnSourceConfig>(config.source).turns));
    EXPECT_EQ(config.task(), Task::chat);
    Parameters p(3);
    const Seq2Seq model(config, p);
    const auto scores = [&](const Rows& sources, const Rows& targets) {
      const Batch batch(sources, {}, targets, 12);
      std::vector<double> out(sources.size());
      model.score(batch.source.view(), batch.target.view(), batch.wanted.view().ids, out);
      return out;
    };
    const auto together = scores(kTurns, kReplies);
    for (std::size_t r = 0; r < 3; ++r) EXPECT_EQ(scores({kTurns[r]}, {kReplies[r]})[0], together[r]);
    // Where a turn ends matters.
    EXPECT_NE(scores({{4, 5, 6, bos_id, 7}}, {{5}})[0], scores({{4, 5, bos_id, 6, 7}}, {{5}})[0]);
  }
}

TEST(Turns, GradientsMatchFiniteDifferences) {
  for (ModelConfig config : turn_kinds()) {
    const auto& turns = std::get<TurnSourceConfig>(config.source);
    SCOPED_TRACE(std::string(kind_of(config.encoder)) + " " + enum_text(turns.turns));
    for (auto* part : {std::get_if<TransformerConfig>(&config.encoder),
                       std::get_if<TransformerConfig>(&config.generator().decoder)}) {
      if (part == nullptr) continue;
      part->layers = 1;
      part->activation = Activation::gelu;
    }
    // Two gated convolutions of scattered weights are too steep for differences.
    if (auto* cnn = std::get_if<CnnConfig>(&config.encoder)) *cnn = {.layers = 1, .dim = 6, .max_positions = 16};
    const Batch batch(kTurns, {}, kReplies, 12);
    test::check_gradients(
        [&](Parameters& p, const std::vector<Var>&) {
          const Seq2Seq model(config, p);
          Pass pass;
          return model.loss(batch.source.view(), batch.target.view(), batch.wanted.view().ids, {}, pass).loss;
        },
        {}, {.step = 4e-3, .tolerance = 1.5e-2, .per_input = 4});
  }
}

TEST(Turns, AttentionOfTheEncoderStaysWithinATurn) {
  ModelConfig config = turn_kinds().back();  // transformer, hierarchical
  Parameters p(3);
  const Seq2Seq model(config, p);
  const Batch batch(kTurns, {}, kReplies, 12);
  const NoGrad quiet;
  Pass pass;
  const Memory memory = model.encode(batch.source.view(), pass, true);
  ASSERT_EQ(memory.attention.size(), 2U);
  const Tensor w = memory.attention[0].value();
  ASSERT_EQ(w.shape(), (Shape{3, 2, 9, 9}));
  double row = 0;
  for (std::int64_t k = 0; k < 9; ++k) row += w.data()[k];
  EXPECT_NEAR(row, 1, 1e-5);
  EXPECT_GT(w.data()[1], 0);
  EXPECT_EQ(w.data()[3], 0) << "of another turn";
}

}  // namespace
}  // namespace fovea
