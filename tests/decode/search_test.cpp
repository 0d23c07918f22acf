#include "fovea/decode/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/rng.hpp"
#include "fovea/error.hpp"
#include "fovea/text.hpp"

namespace fovea {
namespace {

constexpr int kWords = 8;  // four specials and four words

// A made-up language: the score of a token depends on the sentence, the two tokens before it and the position.
float raw_score(int sentence, int before, int last, int position, int token) {
  Rng rng(static_cast<std::uint64_t>(((sentence * 31 + before) * 31 + last) * 31 + position),
          static_cast<std::uint64_t>(token));
  return static_cast<float>(3 * rng.normal()) + (token == eos_id ? 0.4F * static_cast<float>(position) : 0.0F);
}

// Rows remember what they wrote, so keep() is tested too: a wrong row order gives other scores.
class TableStepper final : public Stepper {
 public:
  explicit TableStepper(const std::vector<int>& sentences) {
    for (const int s : sentences) rows_.push_back({s, {}});
  }
  Tensor step(std::span<const std::int32_t> tokens) override {
    EXPECT_EQ(tokens.size(), rows_.size());
    Tensor scores = Tensor::empty({static_cast<std::int64_t>(rows_.size()), kWords});
    weights_ = Tensor::zeros({static_cast<std::int64_t>(rows_.size()), 3});
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      auto& [sentence, written] = rows_[r];
      written.push_back(tokens[r]);
      const int before = written.size() > 1 ? written[written.size() - 2] : 0;
      for (int t = 0; t < kWords; ++t) {
        scores.data()[static_cast<int>(r) * kWords + t] =
            raw_score(sentence, before, tokens[r], static_cast<int>(written.size()), t);
      }
      weights_.data()[r * 3 + written.size() % 3] = 1.0F;
    }
    return scores;
  }
  void keep(std::span<const std::int32_t> rows) override {
    std::vector<std::pair<int, std::vector<int>>> kept;
    for (const auto r : rows) kept.push_back(rows_[static_cast<std::size_t>(r)]);
    rows_ = kept;
  }
  [[nodiscard]] Tensor attention() const override { return weights_; }

 private:
  std::vector<std::pair<int, std::vector<int>>> rows_;
  Tensor weights_;
};

double log_probability(int sentence, const std::vector<std::int32_t>& tokens, bool ended = true) {
  std::vector<int> written{bos_id};
  double total = 0;
  auto all = tokens;
  if (ended) all.push_back(eos_id);
  for (const int token : all) {
    double sum = 0;
    const int before = written.size() > 1 ? written[written.size() - 2] : 0;
    const int position = static_cast<int>(written.size());
    for (int t = 0; t < kWords; ++t) sum += std::exp(raw_score(sentence, before, written.back(), position, t));
    total += raw_score(sentence, before, written.back(), position, token) - std::log(sum);
    written.push_back(token);
  }
  return total;
}

// Every output of up to `most` tokens.
void each_output(int most, std::vector<std::int32_t>& tokens,
                 const std::function<void(const std::vector<std::int32_t>&)>& visit) {
  visit(tokens);
  if (static_cast<int>(tokens.size()) == most) return;
  for (const std::int32_t t : {1, 4, 5, 6, 7}) {
    tokens.push_back(t);
    each_output(most, tokens, visit);
    tokens.pop_back();
  }
}

std::vector<std::vector<Hypothesis>> run(const std::vector<int>& sentences, const GenerateOptions& options,
                                         std::vector<std::int32_t> prefix = {}, const SearchRules& rules = {}) {
  TableStepper stepper(sentences);
  std::vector<SearchInput> inputs;
  inputs.reserve(sentences.size());
  for (const int s : sentences) inputs.push_back({3, static_cast<std::uint64_t>(s), prefix});
  return search(stepper, inputs, options, rules);
}

TEST(Search, AWideBeamFindsTheBestOfAllOutputs) {
  for (int sentence = 0; sentence < 6; ++sentence) {
    std::vector<std::int32_t> best;
    double best_score = -1e30;
    std::vector<std::int32_t> tokens;
    each_output(4, tokens, [&](const auto& output) {
      const double score = log_probability(sentence, output) / std::pow(output.size() + 1.0, 0.7);
      if (score > best_score) {
        best_score = score;
        best = output;
      }
    });
    const auto found = run({sentence}, {.beam = 900, .length_penalty = 0.7F, .max_length = 4});
    EXPECT_EQ(found[0][0].tokens, best) << sentence;
    EXPECT_NEAR(found[0][0].score, best_score, 1e-4);
    EXPECT_NEAR(found[0][0].log_probability, log_probability(sentence, best), 1e-4);
  }
}

TEST(Search, ALineDoesNotDependOnTheOthers) {
  for (const bool sample : {false, true}) {
    const GenerateOptions options{.beam = 3, .max_length = 7, .sample = sample, .seed = 5};
    const auto together = run({0, 1, 2, 3, 4, 5, 6, 7}, options);
    for (int s = 0; s < 8; ++s) {
      const auto alone = run({s}, options);
      EXPECT_EQ(alone[0][0].tokens, together[static_cast<std::size_t>(s)][0].tokens);
      EXPECT_EQ(alone[0][0].score, together[static_cast<std::size_t>(s)][0].score);
    }
  }
}

TEST(Search, GreedyTakesTheBestTokenEachTime) {
  const auto found = run({3}, {.beam = 1, .max_length = 5});
  std::vector<int> written{bos_id};
  for (const std::int32_t token : found[0][0].tokens) {
    const int before = written.size() > 1 ? written[written.size() - 2] : 0;
    for (int t = 1; t < kWords; ++t) {
      if (t == bos_id) continue;
      const int position = static_cast<int>(written.size());
      EXPECT_LE(raw_score(3, before, written.back(), position, t),
                raw_score(3, before, written.back(), position, token));
    }
    written.push_back(token);
  }
}

TEST(Search, LengthsPrefixAndNgramsAreKept) {
  for (int s = 0; s < 8; ++s) {
    const auto exact = run({s}, {.beam = 4, .n_best = 4, .min_length = 6, .max_length = 6});
    EXPECT_EQ(exact[0].size(), 4U);
    for (const auto& h : exact[0]) EXPECT_EQ(h.tokens.size(), 6U);
    const auto forced = run({s}, {.beam = 4, .max_length = 6}, {7, 7, 4});
    ASSERT_GE(forced[0][0].tokens.size(), 3U);
    EXPECT_EQ(std::vector<std::int32_t>(forced[0][0].tokens.begin(), forced[0][0].tokens.begin() + 3),
              (std::vector<std::int32_t>{7, 7, 4}));
    const auto fresh = run({s}, {.beam = 4, .min_length = 9, .max_length = 9, .no_repeat_ngram = 2});
    std::map<std::pair<int, int>, int> seen;
    const auto& tokens = fresh[0][0].tokens;
    for (std::size_t i = 1; i < tokens.size(); ++i) EXPECT_EQ(++seen[std::pair(tokens[i - 1], tokens[i])], 1);
  }
}

TEST(Search, NBestAreDistinctAndInOrder) {
  const auto found = run({2}, {.beam = 5, .n_best = 5, .max_length = 6})[0];
  for (std::size_t i = 1; i < found.size(); ++i) {
    EXPECT_GE(found[i - 1].score, found[i].score);
    EXPECT_NE(found[i - 1].tokens, found[i].tokens);
  }
}

TEST(Search, AttentionHasARowForEachTokenAndTheEnd) {
  const auto found = run({1}, {.beam = 3, .max_length = 6, .attention = true})[0][0];
  ASSERT_EQ(found.attention.size(), (found.tokens.size() + 1) * 3);
  for (std::size_t t = 0; t <= found.tokens.size(); ++t) EXPECT_EQ(found.attention[t * 3 + (t + 1) % 3], 1.0F);
}

TEST(Search, SamplingFollowsTheProbabilities) {
  std::map<std::int32_t, int> first;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    TableStepper stepper({0});
    const SearchInput input{3, static_cast<std::uint64_t>(i), {}};
    const auto h = search(stepper, {&input, 1}, {.max_length = 1, .sample = true})[0][0];
    ++first[h.tokens.empty() ? eos_id : h.tokens[0]];
  }
  double sum = 0;
  for (int t = 0; t < kWords; ++t) {
    if (t != pad_id && t != bos_id) sum += std::exp(raw_score(0, 0, bos_id, 1, t));
  }
  for (int t = 0; t < kWords; ++t) {
    if (t == pad_id || t == bos_id) continue;
    EXPECT_NEAR(first[t] / double{kDraws}, std::exp(raw_score(0, 0, bos_id, 1, t)) / sum, 0.015);
  }
}

// Sure of 4 5 6 7 4 5 6 7 and the end; the end is the next best everywhere.
class SureStepper final : public Stepper {
 public:
  Tensor step(std::span<const std::int32_t> tokens) override {
    const auto rows = static_cast<std::int64_t>(tokens.size());
    if (written_ == 0) right_.assign(tokens.size(), true);
    Tensor scores = Tensor::full({rows, kWords}, 0.0F);
    for (std::int64_t r = 0; r < rows; ++r) {
      if (written_ > 0) {
        right_[static_cast<std::size_t>(r)] =
            right_[static_cast<std::size_t>(r)] && tokens[static_cast<std::size_t>(r)] == 4 + (written_ - 1) % 4;
      }
      scores.data()[r * kWords + eos_id] = 4.0F;
      if (right_[static_cast<std::size_t>(r)])
        scores.data()[r * kWords + (written_ < 8 ? 4 + written_ % 4 : eos_id)] = 12;
    }
    ++written_;
    return scores;
  }
  void keep(std::span<const std::int32_t> rows) override {
    std::vector<bool> kept;
    for (const auto r : rows) kept.push_back(right_[static_cast<std::size_t>(r)]);
    right_ = kept;
  }
  [[nodiscard]] Tensor attention() const override { return {}; }

 private:
  int written_ = 0;
  std::vector<bool> right_;  // rows that wrote what they should
};

TEST(Search, AWideBeamDoesNotLoseWhatTheModelIsSureOf) {
  for (const int beam : {1, 2, 3, 5, 8}) {
    SureStepper stepper;
    const SearchInput input{.source_length = 3};
    const auto found = search(stepper, {&input, 1}, {.beam = beam});
    EXPECT_EQ(found[0][0].tokens, (std::vector<std::int32_t>{4, 5, 6, 7, 4, 5, 6, 7})) << "beam " << beam;
  }
}

TEST(Search, WhereAllIsForbiddenItEnds) {
  for (const bool sample : {false, true}) {
    TableStepper stepper({0});
    const SearchInput input{.source_length = 3};
    // Five tokens may be written once each, and fewer than forty are not enough.
    const auto found =
        search(stepper, {&input, 1}, {.beam = 2, .min_length = 40, .no_repeat_ngram = 1, .sample = sample});
    ASSERT_EQ(found[0].size(), 1U);
    EXPECT_EQ(found[0][0].tokens.size(), 5U);
    EXPECT_TRUE(std::isfinite(found[0][0].score));
  }
}

TEST(Search, ALongLeastLengthMovesTheMostLength) {
  TableStepper stepper({0});
  const SearchInput input{.source_length = 1};
  const auto found = search(stepper, {&input, 1}, {.beam = 3, .min_length = 50});
  EXPECT_GE(found[0][0].tokens.size(), 50U);
  EXPECT_TRUE(std::isfinite(found[0][0].score));
  TableStepper other({0});
  const auto cut = search(other, {&input, 1}, {.beam = 3, .min_length = 50}, {.longest = 7});
  EXPECT_LE(cut[0][0].tokens.size(), 7U);
  EXPECT_TRUE(std::isfinite(cut[0][0].score));
}

TEST(Search, AnOutputThatIsCutOffDoesNotCountItsEnd) {
  int cut = 0;
  const std::vector<int> sentences{0, 1, 2};
  const auto found = run(sentences, {.beam = 4, .length_penalty = 0, .n_best = 4, .max_length = 2}, {}, {.cut = true});
  for (std::size_t s = 0; s < sentences.size(); ++s) {
    for (const Hypothesis& h : found[s]) {
      EXPECT_NEAR(h.score, log_probability(sentences[s], h.tokens, h.ended), 1e-4) << s;
      cut += h.ended ? 0 : 1;
    }
  }
  EXPECT_GT(cut, 0);
}

class NanStepper final : public Stepper {
 public:
  Tensor step(std::span<const std::int32_t> tokens) override {
    Tensor scores = Tensor::empty({static_cast<std::int64_t>(tokens.size()), kWords});
    for (float& s : scores.values()) s = std::numeric_limits<float>::quiet_NaN();
    return scores;
  }
  void keep(std::span<const std::int32_t>) override {}
  [[nodiscard]] Tensor attention() const override { return {}; }
};

// Where only one token is possible too: at the longest length the end, within a prefix the next of it.
TEST(Search, ScoresThatAreNoNumbersGiveNoOutputWhereThereIsNoChoice) {
  const std::vector<std::int32_t> prefix{4, 5};
  for (const SearchInput& input :
       {SearchInput{.source_length = 3}, SearchInput{.source_length = 3, .prefix = prefix}}) {
    NanStepper stepper;
    EXPECT_TRUE(search(stepper, {&input, 1}, {.beam = 3, .max_length = 1}, {.longest = 1})[0].empty());
  }
}

TEST(Search, ScoresThatAreNoNumbersGiveNoOutput) {
  const SearchInput input{.source_length = 3};
  for (const GenerateOptions& how :
       {GenerateOptions{.beam = 1}, GenerateOptions{.beam = 4}, GenerateOptions{.sample = true}}) {
    NanStepper stepper;
    EXPECT_TRUE(search(stepper, {&input, 1}, how)[0].empty());
  }
}

TEST(Search, OptionsThatCannotBeAreNamed) {
  EXPECT_THROW(check_search({.beam = 0}), UsageError);
  EXPECT_THROW(check_search({.beam = 2, .n_best = 3}), UsageError);
  EXPECT_THROW(check_search({.top_p = 0}), UsageError);
  EXPECT_THROW(check_search({.min_length = 9, .max_length = 3}), UsageError);
  EXPECT_THROW(check_search({.temperature = 0}), UsageError);
}

}  // namespace
}  // namespace fovea
