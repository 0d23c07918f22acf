// Translator::trace against the translation whose attention it gives.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>

#include "fovea/error.hpp"
#include "fovea/translator.hpp"
#include "support/json_near.hpp"
#include "support/scratch.hpp"
#include "support/tiny_model.hpp"

namespace fovea {
namespace {

const std::vector<AttentionKind> kAll{AttentionKind::cross, AttentionKind::encoder, AttentionKind::decoder};

void expect_rows_sum_to_one(const AttentionMap& map) {
  for (std::int64_t r = 0; r < map.weights.rows; ++r) {
    double sum = 0;
    for (std::int64_t c = 0; c < map.weights.columns; ++c) sum += map.weights.at(r, c);
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST(Translator, LinesThatAreLeftWhenItIsStoppedGetNoOutputs) {
  const test::Scratch folder;
  test::write_tiny_model(folder.folder(), test::tiny_transformer(), "en-de");
  const Translator translator(folder.folder());
  const std::vector<std::string> lines(20, "one two three");
  std::atomic<int> asked = 0;
  const auto translated = [&](int stop_at) {
    asked = 0;
    // A line is a batch.
    const GenerateCall call{.stop = [&asked, stop_at] { return ++asked > stop_at; }};
    const auto all = translator.translate(lines, {.max_length = 3, .batch_tokens = 1}, call);
    return std::count_if(all.begin(), all.end(), [](const auto& outputs) { return !outputs.empty(); });
  };
  EXPECT_EQ(translated(0), 0);
  EXPECT_EQ(translated(7), 7);
  EXPECT_EQ(translated(20), 20);
}

TEST(Trace, HasTheOutputAndTheWeightsOfTheSearch) {
  for (const auto& config : {test::tiny_transformer(), test::tiny_rnn()}) {
    const test::Scratch folder;
    test::write_tiny_model(folder.folder(), config, "en-de");
    const Translator translator(folder.folder());
    const GenerateOptions how{.attention = true};
    const std::vector<std::string> lines{"one two three", "four", "five six seven one two"};
    const auto batch = translator.translate(lines, how);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const GenerationTrace trace = translator.trace(lines[i], how);
      EXPECT_EQ(trace.output.text, batch[i][0].text);
      EXPECT_NEAR(trace.output.log_probability, batch[i][0].log_probability, 1e-4);
      test::expect_near(trace.output.attention.weights.values, batch[i][0].attention.weights.values);
      const int layers = config.attention_layers();
      const int heads = config.attention_heads();
      ASSERT_EQ(trace.output.attention.maps.size(), static_cast<std::size_t>(layers * heads));
      // The same bytes as a search that gives one layer and head alone.
      for (int l = 0; l < layers; ++l) {
        for (int h = 0; h < heads; ++h) {
          const AttentionMap& map = trace.output.attention.maps[static_cast<std::size_t>(l * heads + h)];
          EXPECT_EQ(map.kind, AttentionKind::cross);
          EXPECT_EQ(map.layer, l);
          EXPECT_EQ(map.head, h);
          EXPECT_EQ(map.queries, trace.output.attention.target);
          EXPECT_EQ(map.keys, trace.output.attention.source);
          GenerateOptions one = how;
          one.layer = l;
          one.head = h;
          test::expect_near(map.weights.values, translator.translate(lines[i], one).attention.weights.values);
        }
      }
    }
  }
}

TEST(Trace, OfSelfAttentionHasTheTokensThatWereReadAndNoLookAhead) {
  const test::Scratch folder;
  test::write_tiny_model(folder.folder(), test::tiny_transformer(), "en-de");
  const Translator translator(folder.folder());
  const auto trace =
      translator.trace("one two three", {.max_length = 5, .kinds = {AttentionKind::encoder, AttentionKind::decoder}});
  std::vector<std::string> fed{"<s>"};
  const auto& written = trace.output.attention.target;
  ASSERT_GE(written.size(), 2U);
  fed.insert(fed.end(), written.begin(), written.end() - 1);
  ASSERT_EQ(trace.output.attention.maps.size(), 8U);  // two kinds, two layers, two heads
  for (const AttentionMap& map : trace.output.attention.maps) {
    ASSERT_NE(map.kind, AttentionKind::cross);
    const auto& tokens = map.kind == AttentionKind::encoder ? trace.output.attention.source : fed;
    EXPECT_EQ(map.queries, tokens);
    EXPECT_EQ(map.keys, tokens);
    expect_rows_sum_to_one(map);
    bool later = false;
    for (std::int64_t r = 0; r < map.weights.rows; ++r) {
      for (std::int64_t c = r + 1; c < map.weights.columns; ++c) later |= map.weights.at(r, c) > 0;
    }
    EXPECT_EQ(later, map.kind == AttentionKind::encoder);
  }
}

TEST(Trace, OfAnRnnHasNoSelfAttention) {
  const test::Scratch folder;
  test::write_tiny_model(folder.folder(), test::tiny_rnn(), "en-de");
  const auto trace = Translator(folder.folder()).trace("one two", {.kinds = kAll});
  ASSERT_EQ(trace.output.attention.maps.size(), 1U);
  EXPECT_EQ(trace.output.attention.maps[0].kind, AttentionKind::cross);
}

TEST(Trace, MergesWordsInEveryHead) {
  const test::Scratch folder;
  test::write_tiny_model(folder.folder(), test::tiny_transformer(), "en-de");
  const Translator translator(folder.folder());
  const auto trace = translator.trace("one two", {.kinds = kAll, .merge_words = true});
  EXPECT_EQ(trace.output.attention.maps.size(), 12U);
  for (const AttentionMap& map : trace.output.attention.maps) {
    ASSERT_EQ(map.weights.rows, static_cast<std::int64_t>(map.queries.size()));
    ASSERT_EQ(map.weights.columns, static_cast<std::int64_t>(map.keys.size()));
    if (map.kind != AttentionKind::cross) continue;
    EXPECT_EQ(map.queries, trace.output.attention.target);
    EXPECT_EQ(map.keys, trace.output.attention.source);
  }
  EXPECT_THROW((void)translator.trace("  "), UsageError);
}

}  // namespace
}  // namespace fovea
