// A Transformer decoder a token at a time gives what it gives for the whole output at once, in every configuration.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "base/rng.hpp"
#include "fovea/attention/interventions.hpp"
#include "fovea/model/decoder.hpp"
#include "support/gradcheck.hpp"

namespace fovea {
namespace {

using Configurations = std::vector<std::pair<std::string, TransformerConfig>>;

constexpr std::int64_t kWidth = 16, kMemory = 12, kKeys = 5;

Configurations configurations() {
  Configurations all;
  const TransformerConfig base{.layers = 2, .dim = kWidth, .ffn = 24, .heads = 2};
  for (const Norm norm : {Norm::pre, Norm::post}) {
    for (const DecoderSelf self : {DecoderSelf::attention, DecoderSelf::ssru, DecoderSelf::average}) {
      for (const auto& [positions, name] : enum_names<Positions>()) {
        TransformerConfig c = base;
        c.norm = norm;
        c.decoder_self = self;
        c.positions = positions;
        all.emplace_back(enum_text(norm) + " " + enum_text(self) + " " + name, c);
      }
    }
  }
  const auto add = [&](const std::string& name, const auto& change) {
    TransformerConfig c = base;
    change(c);
    all.emplace_back(name, c);
    c.norm = Norm::post;
    c.decoder_self = DecoderSelf::average;
    all.emplace_back(name + ", post average", c);
  };
  for (const auto& [activation, name] : enum_names<Activation>()) {
    add(name, [f = activation](TransformerConfig& c) { c.activation = f; });
  }
  add("no biases", [](TransformerConfig& c) { c.bias = false; });
  add("undivided scores", [](TransformerConfig& c) { c.scaled_scores = false; });
  add("embedding norm", [](TransformerConfig& c) { c.embedding_norm = true; });
  add("epsilon", [](TransformerConfig& c) { c.norm_epsilon = 0.1F; });
  add("first position", [](TransformerConfig& c) { c.first_position = 2; });
  add("heads", [](TransformerConfig& c) { c.heads = 8; });
  add("unscaled learned positions", [](TransformerConfig& c) {
    c.positions = Positions::learned;
    c.scaled_positions = false;
  });
  return all;
}

// Numbers far from those that weights start with: no gain is 1 and no bias 0.
void scatter(const Parameters& p) {
  Rng rng(11);
  for (const Parameters::Entry& entry : p.entries()) {
    for (float& v : entry.weight.value().values()) {
      v += static_cast<float>((rng.uniform() < 0.5 ? -1 : 1) * (0.1 + 0.3 * rng.uniform()));
    }
  }
}

// Two sentences of two hypotheses each. Search keeps different ones at each step.
class Beam {
 public:
  explicit Beam(std::int64_t steps) : inputs_(test::random_tensor({steps, kRows, kWidth}, 3)) {}

  static constexpr std::int64_t kRows = 4;
  static constexpr std::int32_t kSentences[] = {0, 0, 1, 1};
  [[nodiscard]] std::int64_t steps() const { return inputs_.dim(0); }
  // What the rows are fed next.
  Tensor next() {
    const Tensor x = inputs_.select(0, count_++).contiguous();
    for (std::int64_t r = 0; r < kRows; ++r) {
      auto& all = history_[static_cast<std::size_t>(r)];
      all.insert(all.end(), x.data() + r * kWidth, x.data() + (r + 1) * kWidth);
    }
    return x;
  }
  // What the rows were fed, [rows, steps, width].
  [[nodiscard]] Tensor history() const {
    const Tensor all = Tensor::empty({kRows, count_, kWidth});
    for (std::int64_t r = 0; r < kRows; ++r) {
      std::ranges::copy(history_[static_cast<std::size_t>(r)], all.data() + r * count_ * kWidth);
    }
    return all;
  }
  std::vector<std::int32_t> keep() {
    const std::vector<std::int32_t> chosen[] = {{1, 0, 3, 3}, {0, 1, 2, 3}, {0, 0, 3, 2}};
    const auto& rows = chosen[count_ % 3];
    const auto before = history_;
    for (std::size_t r = 0; r < kRows; ++r) history_[r] = before[static_cast<std::size_t>(rows[r])];
    return rows;
  }

 private:
  Tensor inputs_;
  std::int64_t count_ = 0;
  std::array<std::vector<float>, kRows> history_;
};

// Values that differ by more than 1e-4, and the largest difference.
struct Difference {
  std::int64_t values = 0, far = 0;
  double largest = 0;
  void add(float a, float b) {
    const double d = std::abs(static_cast<double>(a) - b);
    values += 1;
    far += d > 1e-4 ? 1 : 0;
    largest = std::isnan(d) ? 1e9 : std::max(largest, d);
  }
};

Difference compare(const Decoder& decoder, bool reads, std::int64_t steps, const Interventions* interventions) {
  const NoGrad quiet;
  const std::vector<std::int64_t> lengths{kKeys, 3}, row_lengths{kKeys, kKeys, 3, 3};
  Memory memory{.states = test::random_tensor({2, kKeys, kMemory}, 5), .lengths = lengths};
  const auto start = [&] {
    auto state = decoder.start(reads ? &memory : nullptr, reads ? 2 : Beam::kRows, reads, interventions);
    if (reads) state->keep(std::vector<std::int32_t>{0, 0, 1, 1});
    return state;
  };
  const auto state = start();
  Memory for_rows = memory;
  for_rows.rows = Beam::kSentences;
  for_rows.rows_lengths = row_lengths;
  Beam beam(steps);
  Difference difference;
  for (std::int64_t t = 0; t < steps; ++t) {
    const Tensor now = state->step(beam.next());
    const std::vector<std::int64_t> written(Beam::kRows, t + 1);
    Pass pass;
    pass.interventions = interventions;
    const Decoded whole =
        decoder.decode(reads ? &for_rows : nullptr, {Var(beam.history()), written}, pass, {.cross = reads});
    const Tensor last = whole.states.value().select(1, t).contiguous();
    for (std::int64_t i = 0; i < now.size(); ++i) difference.add(now.data()[i], last.data()[i]);
    EXPECT_EQ(state->attention().size(), whole.cross.size());
    for (std::size_t layer = 0; layer < whole.cross.size(); ++layer) {
      const Tensor w = whole.cross[layer].value().select(2, t).contiguous();
      const Tensor& step = state->attention()[layer];
      EXPECT_EQ(w.shape(), step.shape());
      for (std::int64_t i = 0; i < w.size(); ++i) difference.add(step.data()[i], w.data()[i]);
    }
    state->keep(beam.keep());
  }
  return difference;
}

class TransformerSteps : public ::testing::TestWithParam<Storage> {};

TEST_P(TransformerSteps, GiveWhatTheWholeOutputGives) {
  for (const auto& [name, config] : configurations()) {
    for (const bool reads : {true, false}) {
      SCOPED_TRACE(name + (reads ? "" : " without a memory"));
      const DecoderSizes sizes{.embedding = kWidth, .memory = reads ? kMemory : 0};
      Parameters p(3);
      (void)make_decoder(config, sizes, p);
      scatter(p);
      if (GetParam() == Storage::f32) {
        const auto unpacked = make_decoder(config, sizes, p);
        EXPECT_LT(compare(*unpacked, reads, 4, nullptr).largest, 1e-4);
      }
      p.round(GetParam());
      p.pack(GetParam());
      const auto decoder = make_decoder(config, sizes, p);
      // Beyond 16 steps the arrays grow.
      const Difference d = compare(*decoder, reads, config.layers == 2 && name == "relu" ? 20 : 6, nullptr);
      // A difference in the last bit before a value is rounded to int8 may change it by one step.
      if (GetParam() == Storage::int8) {
        EXPECT_LT(d.largest, 0.1);
        EXPECT_LT(static_cast<double>(d.far), 0.05 * static_cast<double>(d.values));
      } else {
        EXPECT_LT(d.largest, 1e-4);
      }
    }
  }
}

TEST_P(TransformerSteps, GiveWhatTheWholeOutputGivesWithInterventions) {
  using What = AttentionEdit::What;
  const Interventions edits{.attention = {{.what = What::cut, .kind = AttentionKind::cross, .layer = 1, .key = 1},
                                          {.what = What::temperature, .kind = AttentionKind::decoder, .value = 2},
                                          {.what = What::force, .layer = 0, .query = 2, .key = 0, .value = 0.75F},
                                          {.what = What::uniform, .head = 1, .query = 1},
                                          {.what = What::silence, .layer = 1, .head = 0, .query = 3}},
                            .tokens = {{.token = 2}}};
  for (const auto& [name, config] : configurations()) {
    for (const bool reads : {true, false}) {
      SCOPED_TRACE(name + (reads ? "" : " without a memory"));
      const DecoderSizes sizes{.embedding = kWidth, .memory = reads ? kMemory : 0};
      Parameters p(3);
      (void)make_decoder(config, sizes, p);
      scatter(p);
      p.round(GetParam());
      p.pack(GetParam());
      const auto decoder = make_decoder(config, sizes, p);
      const Difference d = compare(*decoder, reads, 5, &edits);
      EXPECT_LT(d.largest, GetParam() == Storage::int8 ? 0.1 : 1e-4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Storages, TransformerSteps, ::testing::Values(Storage::f32, Storage::f16, Storage::int8),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace fovea
