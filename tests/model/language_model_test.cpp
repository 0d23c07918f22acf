// A decoder without a memory: a language model.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/error.hpp"
#include "fovea/model/generator.hpp"
#include "fovea/train/adam.hpp"
#include "support/gradcheck.hpp"

namespace fovea {
namespace {

std::vector<std::pair<std::string, DecoderConfig>> decoder_kinds() {
  std::vector<std::pair<std::string, DecoderConfig>> all;
  for (const Cell cell : {Cell::gru, Cell::lstm}) {
    for (const RnnForm form : {RnnForm::bahdanau, RnnForm::luong}) {
      all.emplace_back(
          "rnn " + enum_text(cell) + " " + enum_text(form),
          RnnDecoderConfig{.layers = 2, .dim = 12, .cell = cell, .attention = RnnAttention::none, .form = form});
    }
  }
  all.emplace_back("cnn", CnnConfig{.layers = 2, .dim = 12});
  for (const Norm norm : {Norm::pre, Norm::post}) {
    for (const Positions positions : {Positions::sinusoidal, Positions::learned, Positions::rotary, Positions::alibi}) {
      all.emplace_back(
          "transformer " + enum_text(norm) + " " + enum_text(positions),
          TransformerConfig{.layers = 2, .dim = 16, .ffn = 24, .heads = 2, .norm = norm, .positions = positions});
    }
  }
  return all;
}

TEST(LanguageModel, StepsGiveTheSameStatesAsAllPositionsAtOnce) {
  constexpr std::int64_t rows = 3, length = 6, width = 16;
  const Tensor x = test::random_tensor({rows, length, width}, 1);
  const std::vector<std::int64_t> lengths{6, 4, 1};
  for (const auto& [name, config] : decoder_kinds()) {
    SCOPED_TRACE(name);
    Parameters p(3);
    (void)make_decoder(config, {.embedding = width}, p);
    for (const bool packed : {false, true}) {
      if (packed) p.pack();
      const auto decoder = make_decoder(config, {.embedding = width}, p);
      const NoGrad quiet;
      Pass pass;
      const Decoded whole = decoder->decode(nullptr, {x, lengths}, pass, {.cross = true, .self = true});
      EXPECT_TRUE(whole.cross.empty());
      const Tensor states = whole.states.value().contiguous();
      ASSERT_EQ(states.shape(), (Shape{rows, length, decoder->width()}));
      const auto state = decoder->start(nullptr, rows, true);
      for (std::int64_t t = 0; t < length; ++t) {
        const Tensor step = state->step(x.select(1, t).contiguous()).contiguous();
        EXPECT_TRUE(state->attention().empty());
        for (std::int64_t r = 0; r < rows; ++r) {
          if (t >= lengths[static_cast<std::size_t>(r)]) continue;
          for (std::int64_t i = 0; i < decoder->width(); ++i) {
            ASSERT_NEAR(step.data()[r * decoder->width() + i], states.data()[(r * length + t) * decoder->width() + i],
                        1e-4)
                << "row " << r << ", step " << t;
          }
        }
      }
    }
  }
}

// Rows that change places go on with what they have read.
TEST(LanguageModel, ARowThatIsKeptElsewhereGoesOnAsItWas) {
  const Tensor x = test::random_tensor({4, 3, 16}, 2);
  for (const auto& [name, config] : decoder_kinds()) {
    SCOPED_TRACE(name);
    Parameters p(3);
    const auto decoder = make_decoder(config, {.embedding = 16}, p);
    const auto read = [&](std::int64_t row, std::int64_t last) {  // alone
      const auto state = decoder->start(nullptr, 1);
      for (std::int64_t t = 0; t < 2; ++t) (void)state->step(x.slice(0, row, row + 1).select(1, t).contiguous());
      return state->step(x.slice(0, last, last + 1).select(1, 2).contiguous()).contiguous();
    };
    const auto state = decoder->start(nullptr, 4);
    for (std::int64_t t = 0; t < 2; ++t) (void)state->step(x.select(1, t).contiguous());
    const std::vector<std::int32_t> from{2, 2, 0};
    state->keep(from);
    const Tensor out = state->step(x.slice(0, 0, 3).select(1, 2).contiguous()).contiguous();
    for (std::int64_t r = 0; r < 3; ++r) {
      const Tensor alone = read(from[static_cast<std::size_t>(r)], r);
      for (std::int64_t i = 0; i < alone.size(); ++i) {
        ASSERT_NEAR(out.data()[r * alone.size() + i], alone.data()[i], 1e-5);
      }
    }
  }
}

TEST(LanguageModel, HasNoWeightsForAMemory) {
  for (const auto& [name, config] : decoder_kinds()) {
    Parameters with(1);
    Parameters without(1);
    (void)make_decoder(config, {.embedding = 16, .memory = 10}, with);
    (void)make_decoder(config, {.embedding = 16}, without);
    EXPECT_LT(without.count(), with.count()) << name;
    for (const auto& entry : without.entries()) {
      for (const char* part : {"cross", "memory", "context", "first.weight", "query"}) {
        if (entry.name.find(".self.") != std::string::npos || entry.name.find(".feed.") != std::string::npos) continue;
        EXPECT_EQ(entry.name.find(part), std::string::npos) << entry.name;
      }
    }
  }
}

TEST(LanguageModel, AnRnnThatShallAttendIsRefused) {
  Parameters p(1);
  EXPECT_THROW((void)make_decoder(RnnDecoderConfig{.dim = 8}, {.embedding = 16}, p), UsageError);
}

// Sequences that count on from where they start: what comes next is certain after the first token.
TEST(LanguageModel, LearnsWhatComesNext) {
  constexpr std::int32_t words = 6;
  PaddedTokens target, wanted;
  std::vector<std::vector<std::int32_t>> lines;
  for (std::int32_t start = 0; start < words; ++start) {
    lines.emplace_back();
    for (std::int32_t i = 0; i < 5; ++i) lines.back().push_back(special_ids + (start + i) % words);
  }
  const auto line = [&lines](std::int64_t r) {
    return std::span<const std::int32_t>(lines[static_cast<std::size_t>(r)]);
  };
  target.fill(words, Marks::begin, line);
  wanted.fill(words, Marks::end, line);
  for (const auto& [name, config] : decoder_kinds()) {
    SCOPED_TRACE(name);
    Parameters p(4);
    const Generator model({.decoder = config, .vocabulary = special_ids + words, .embedding = 16}, 0, p);
    Adam adam(p, {.rate = 1e-2F, .clip = 1});
    BatchLoss cost;
    for (int i = 0; i < 120; ++i) {
      Pass pass;
      cost = model.loss(nullptr, target.view(), wanted.view().ids, {}, pass);
      backward(cost.loss);
      (void)adam.step(1e-2, 1.0 / static_cast<double>(cost.outputs));
    }
    EXPECT_EQ(cost.outputs, 36);
    // The first token is one of six; the others follow.
    EXPECT_LT(cost.nll / words, std::log(words) + 0.3);
    const auto stepper = model.start(nullptr, 1, false);
    std::vector<std::int32_t> written{bos_id};
    std::int32_t token = special_ids + 2;
    for (int i = 0; i < 4; ++i) {
      if (i == 0) (void)stepper->step(written);
      const Tensor logits = stepper->step(std::vector<std::int32_t>{token});
      const auto best = std::max_element(logits.data(), logits.data() + logits.size()) - logits.data();
      EXPECT_EQ(best, special_ids + (token - special_ids + 1) % words);
      token = static_cast<std::int32_t>(best);
    }
    std::vector<double> scores(words);
    model.score(nullptr, target.view(), wanted.view().ids, scores);
    for (const double s : scores) EXPECT_NEAR(s, -std::log(words), 0.4);
  }
}

}  // namespace
}  // namespace fovea
