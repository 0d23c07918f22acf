// The weights that models give on request: rows that sum to 1, and a gradient through them.
#include <gtest/gtest.h>

#include "fovea/model/decoder.hpp"
#include "model/kinds.hpp"
#include "support/parameter_gradcheck.hpp"

namespace fovea {
namespace {

using test::random_tensor;

const std::vector<std::int64_t> kSourceLengths{4, 2};
const std::vector<std::int64_t> kTargetLengths{3, 2};

TransformerConfig transformer(Norm norm = Norm::pre, Positions positions = Positions::sinusoidal) {
  // gelu: a relu that changes sides bends the line between two differences
  return {.layers = 2,
          .dim = 8,
          .ffn = 6,
          .heads = 2,
          .norm = norm,
          .positions = positions,
          .activation = Activation::gelu};
}

std::vector<std::pair<std::string, DecoderConfig>> decoders() {
  std::vector<std::pair<std::string, DecoderConfig>> all{
      {"transformer", transformer()},
      {"transformer, post-norm, alibi", transformer(Norm::post, Positions::alibi)},
      {"transformer, rotary across", transformer(Norm::pre, Positions::rotary_cross)},
      {"cnn", CnnConfig{.layers = 2, .dim = 6, .max_positions = 8}}};
  for (const RnnAttention a : {RnnAttention::additive, RnnAttention::dot, RnnAttention::general, RnnAttention::concat,
                               RnnAttention::location, RnnAttention::cosine}) {
    for (const RnnForm form : {RnnForm::bahdanau, RnnForm::luong, RnnForm::conditional}) {
      all.emplace_back("rnn " + enum_text(a) + " " + enum_text(form),
                       RnnDecoderConfig{.dim = 5,
                                        .cell = form == RnnForm::luong ? Cell::lstm : Cell::gru,
                                        .attention = a,
                                        .form = form,
                                        .input_feeding = form == RnnForm::luong,
                                        .max_positions = 8});
    }
  }
  all.emplace_back("rnn coverage", RnnDecoderConfig{.dim = 5, .coverage = true});
  return all;
}

std::int64_t embedding_of(const DecoderConfig& config) {
  return std::holds_alternative<TransformerConfig>(config) ? 8 : 7;
}

// The weights of a layer from inputs that need a gradient: the memory, its summary and the embedded target.
void check_weights(const DecoderConfig& config, bool self, std::size_t layer) {
  const std::int64_t width = embedding_of(config);
  test::check_gradients(
      [&](Parameters& p, const std::vector<Var>& in) {
        const auto decoder = make_decoder(config, {.embedding = width, .memory = 6}, p);
        const Memory memory{.states = in[0], .summary = in[1], .lengths = kSourceLengths};
        Pass pass;
        const Decoded out = decoder->decode(&memory, {in[2], kTargetLengths}, pass, {.cross = !self, .self = self});
        return self ? out.self.at(layer) : out.cross.at(layer);
      },
      {random_tensor({2, 4, 6}, 1, 0.7F), random_tensor({2, 6}, 2, 0.7F), random_tensor({2, 3, width}, 3, 0.7F)},
      {.tolerance = 6e-4, .per_input = 8});
}

TEST(DecoderAttention, AGradientFlowsIntoTheWeightsOverTheMemory) {
  for (const auto& [name, config] : decoders()) {
    SCOPED_TRACE(name);
    const bool rnn = std::holds_alternative<RnnDecoderConfig>(config);
    for (std::size_t layer = 0; layer < (rnn ? 1U : 2U); ++layer) check_weights(config, false, layer);
  }
}

TEST(DecoderAttention, AGradientFlowsIntoTheWeightsOverTheTarget) {
  for (const Positions positions : {Positions::sinusoidal, Positions::rotary, Positions::alibi}) {
    for (std::size_t layer = 0; layer < 2; ++layer) check_weights(transformer(Norm::pre, positions), true, layer);
  }
}

TEST(DecoderAttention, WeightsAreGivenOnlyWhenAskedForAndSumToOneOverWhatIsVisible) {
  for (const auto& [name, config] : decoders()) {
    SCOPED_TRACE(name);
    Parameters p(3);
    const std::int64_t width = embedding_of(config);
    const auto decoder = make_decoder(config, {.embedding = width, .memory = 6}, p);
    const Memory memory{
        .states = random_tensor({2, 4, 6}, 1), .summary = random_tensor({2, 6}, 2), .lengths = kSourceLengths};
    const Sequence target{random_tensor({2, 3, width}, 3), kTargetLengths};
    Pass pass;
    const Decoded none = decoder->decode(&memory, target, pass);
    EXPECT_TRUE(none.cross.empty());
    EXPECT_TRUE(none.self.empty());
    const Decoded both = decoder->decode(&memory, target, pass, {.cross = true, .self = true});
    EXPECT_EQ(both.self.size(), std::holds_alternative<TransformerConfig>(config) ? 2U : 0U);
    ASSERT_FALSE(both.cross.empty());
    for (std::int64_t i = 0; i < none.states.size(); ++i) {
      if (i / none.states.dim(2) == 5) continue;  // past the second target's length
      ASSERT_NEAR(none.states.value().contiguous().data()[i], both.states.value().contiguous().data()[i], 1e-5);
    }
    const auto check = [](const std::vector<Var>& layers, const auto& visible) {
      for (const Var& layer : layers) {
        const Tensor w = layer.value().contiguous();
        ASSERT_EQ(w.rank(), 4);
        const std::int64_t heads = w.dim(1), queries = w.dim(2), keys = w.dim(3);
        for (std::int64_t i = 0; i < 2 * heads * queries; ++i) {
          const std::int64_t b = i / (heads * queries), t = i % queries;
          if (t >= kTargetLengths[static_cast<std::size_t>(b)]) continue;
          double sum = 0;
          for (std::int64_t k = 0; k < keys; ++k) {
            if (k >= visible(b, t)) {
              EXPECT_EQ(w.data()[i * keys + k], 0);
            }
            sum += w.data()[i * keys + k];
          }
          EXPECT_NEAR(sum, 1, 1e-5);
        }
      }
    };
    check(both.cross, [](std::int64_t b, std::int64_t) { return kSourceLengths[static_cast<std::size_t>(b)]; });
    check(both.self, [](std::int64_t, std::int64_t t) { return t + 1; });
  }
}

TEST(EncoderAttention, RowsSumToOneOverTheRealTokens) {
  for (const Norm norm : {Norm::pre, Norm::post}) {
    Parameters p(3);
    const auto encoder = make_encoder(transformer(norm), 8, p);
    Pass pass;
    const Sequence input{random_tensor({2, 4, 8}, 1), kSourceLengths};
    EXPECT_TRUE(encoder->encode(input, pass).attention.empty());
    const Memory memory = encoder->encode(input, pass, true);
    ASSERT_EQ(memory.attention.size(), 2U);
    for (const Var& layer : memory.attention) {
      ASSERT_EQ(layer.shape(), (Shape{2, 2, 4, 4}));
      const Tensor w = layer.value().contiguous();
      for (std::int64_t i = 0; i < 2 * 2 * 4; ++i) {
        double sum = 0;
        for (std::int64_t k = 0; k < 4; ++k) {
          if (k >= kSourceLengths[static_cast<std::size_t>(i / 8)]) {
            EXPECT_EQ(w.data()[i * 4 + k], 0);
          }
          sum += w.data()[i * 4 + k];
        }
        EXPECT_NEAR(sum, 1, 1e-5);
      }
    }
  }
}

TEST(EncoderAttention, AGradientFlowsIntoTheWeights) {
  for (std::size_t layer = 0; layer < 2; ++layer) {
    test::check_gradients(
        [&](Parameters& p, const std::vector<Var>& in) {
          Pass pass;
          return make_encoder(transformer(), 8, p)->encode({in[0], kSourceLengths}, pass, true).attention.at(layer);
        },
        {random_tensor({2, 4, 8}, 1, 0.7F)}, {.tolerance = 6e-4, .per_input = 8});
  }
}

TEST(EncoderAttention, OthersHaveNone) {
  Parameters p(3);
  Pass pass;
  const Sequence input{random_tensor({2, 4, 8}, 1), kSourceLengths};
  EXPECT_TRUE(make_encoder(RnnEncoderConfig{.dim = 6}, 8, p, "rnn")->encode(input, pass, true).attention.empty());
  EXPECT_TRUE(make_encoder(CnnConfig{.layers = 1, .dim = 6}, 8, p, "cnn")->encode(input, pass, true).attention.empty());
}

}  // namespace
}  // namespace fovea
