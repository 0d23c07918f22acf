#include "fovea/attention_record.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "fovea/error.hpp"
#include "support/scratch.hpp"

namespace fovea {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two source tokens, one target token, a map of each kind.
AttentionRecord sample() {
  AttentionRecord r;
  r.source = {"a", "b"};
  r.target = {"c"};
  r.weights = {1, 2, {0.25F, 0.75F}};
  r.maps = {{AttentionKind::cross, 0, 0, r.target, r.source, {1, 2, {0.5F, 0.5F}}},
            {AttentionKind::cross, 1, 0, r.target, r.source, {1, 2, {0, 1}}},
            {AttentionKind::encoder, 0, 0, r.source, r.source, {2, 2, {1, 0, 0.1F, 0.9F}}},
            {AttentionKind::decoder, 0, 0, {"<s>"}, {"<s>"}, {1, 1, {1}}}};
  return r;
}

void expect_same(const AttentionMatrix& a, const AttentionMatrix& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.columns, b.columns);
  EXPECT_EQ(a.values, b.values);
}

TEST(AttentionRecord, ReportsTheMemoryOfEveryPart) {
  AttentionRecord r = sample();
  const std::size_t before = heap_bytes(r);
  r.maps[0].weights.values.assign(1000, 0.5F);
  const std::size_t with_map = heap_bytes(r);
  EXPECT_GE(with_map, before + 990 * sizeof(float));
  r.largest.index.assign(1000, 1);
  r.labels.push_back({"label", 1, std::vector<float>(1000)});
  EXPECT_GE(heap_bytes(r), with_map + 1000 * (sizeof(std::int64_t) + sizeof(float)));
}

TEST(AttentionRecord, ComesBackFromItsJson) {
  AttentionRecord r = sample();
  r.title = "a \"title\"";
  r.weights.values = {1.0F / 3, 2.0F / 3};
  const AttentionRecord back = parse_attention(to_json(r), "x:1");
  EXPECT_EQ(back.title, r.title);
  EXPECT_EQ(back.source, r.source);
  EXPECT_EQ(back.target, r.target);
  expect_same(back.weights, r.weights);
  ASSERT_EQ(back.maps.size(), r.maps.size());
  for (std::size_t i = 0; i < r.maps.size(); ++i) {
    EXPECT_EQ(back.maps[i].kind, r.maps[i].kind);
    EXPECT_EQ(back.maps[i].layer, r.maps[i].layer);
    EXPECT_EQ(back.maps[i].head, r.maps[i].head);
    EXPECT_EQ(back.maps[i].queries, r.maps[i].queries);
    EXPECT_EQ(back.maps[i].keys, r.maps[i].keys);
    expect_same(back.maps[i].weights, r.maps[i].weights);
  }
}

TEST(AttentionRecord, JsonHasTheNamedFieldsOnOneLine) {
  const std::string line = to_json(sample(), {.decimals = 2});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto json = nlohmann::json::parse(line);
  EXPECT_FALSE(json.contains("title"));
  EXPECT_EQ(json["attention"][2]["kind"], "encoder");
  EXPECT_EQ(json["attention"][2]["queries"], nlohmann::json({"a", "b"}));
  EXPECT_EQ(json["attention"][2]["weights"][1][1], 0.9);
  AttentionRecord without = sample();
  without.maps.clear();
  EXPECT_FALSE(nlohmann::json::parse(to_json(without)).contains("attention"));
}

TEST(AttentionRecord, TokensOfAMapMayBeLeftOutWhereTheyAreTheRecords) {
  const auto r = parse_attention(
      R"({"source":["a","b"],"target":["c"],"weights":[[1,0]],"attention":[)"
      R"({"kind":"encoder","layer":0,"head":0,"weights":[[1,0],[0,1]]},{"layer":0,"head":1,"weights":[[0,1]]}]})",
      "x:1");
  EXPECT_THAT(r.maps[0].queries, ElementsAre("a", "b"));
  EXPECT_EQ(r.maps[1].kind, AttentionKind::cross);
  EXPECT_THAT(r.maps[1].queries, ElementsAre("c"));
  EXPECT_THAT(r.maps[1].keys, ElementsAre("a", "b"));
}

TEST(AttentionRecord, OfOneKindHasItsTokensAndItsMean) {
  const AttentionRecord cross = record_of_kind(sample(), AttentionKind::cross);
  EXPECT_THAT(cross.source, ElementsAre("a", "b"));
  EXPECT_THAT(cross.target, ElementsAre("c"));
  EXPECT_THAT(cross.weights.values, ElementsAre(0.25F, 0.75F));
  EXPECT_EQ(cross.maps.size(), 2U);
  const AttentionRecord encoder = record_of_kind(sample(), AttentionKind::encoder);
  EXPECT_THAT(encoder.target, ElementsAre("a", "b"));
  EXPECT_EQ(encoder.weights.rows, 2);
  AttentionRecord none = sample();
  none.maps.pop_back();
  EXPECT_THAT(test::message_of<UsageError>([&] { (void)record_of_kind(none, AttentionKind::decoder); }),
              HasSubstr("decoder"));
}

TEST(AttentionRecord, ChosenWeightsAreOfCrossAttentionAlone) {
  EXPECT_THAT(chosen_weights(sample(), 0, {}).values, ElementsAre(0.5F, 0.5F));
  EXPECT_THAT(chosen_weights(sample(), {}, 0).values, ElementsAre(0.25F, 0.75F));
  EXPECT_THROW((void)chosen_weights(sample(), {}, 1), UsageError);
}

TEST(AttentionRecord, SentencesOfATextAreBlocksOnTheDiagonal) {
  const std::vector<AttentionRecord> one{sample()};
  EXPECT_EQ(to_json(one), to_json(sample()));
  std::vector<AttentionRecord> two{sample(), sample()};
  const AttentionRecord all = parse_attention(to_json(two), "x:1");
  check(all);
  EXPECT_THAT(all.source, ElementsAre("a", "b", "a", "b"));
  EXPECT_THAT(all.target, ElementsAre("c", "c"));
  expect_same(all.weights, {2, 4, {0.25F, 0.75F, 0, 0, 0, 0, 0.25F, 0.75F}});
  ASSERT_EQ(all.maps.size(), 4U);
  expect_same(all.maps[2].weights, {4, 4, {1, 0, 0, 0, 0.1F, 0.9F, 0, 0, 0, 0, 1, 0, 0, 0, 0.1F, 0.9F}});
  EXPECT_THAT(all.maps[3].keys, ElementsAre("<s>", "<s>"));
  two[1].maps.pop_back();
  EXPECT_THROW((void)to_json(two), ShapeError);
}

TEST(AttentionRecord, WeightsThatDoNotFitTheirTokensAreRefused) {
  const auto refused = [](const auto& change) {
    AttentionRecord r = sample();
    change(r);
    EXPECT_THROW(check(r), ShapeError);
    EXPECT_THROW((void)to_json(r), ShapeError);
  };
  EXPECT_NO_THROW(check(sample()));
  refused([](AttentionRecord& r) { r.source.pop_back(); });
  refused([](AttentionRecord& r) { r.weights.values.pop_back(); });
  refused([](AttentionRecord& r) { r.maps[2].queries.emplace_back("d"); });
  refused([](AttentionRecord& r) { r.maps[3].weights.columns = 2; });
  EXPECT_THROW((void)mean_of(sample().maps), ShapeError);
}

TEST(AttentionRecord, AKindHasOneNameEachWay) {
  for (const auto kind : {AttentionKind::cross, AttentionKind::encoder, AttentionKind::decoder}) {
    EXPECT_EQ(attention_kind(name_of(kind)), kind);
  }
  EXPECT_THAT(test::message_of<UsageError>([] { (void)attention_kind("self"); }),
              HasSubstr("\"self\" is not one of cross, encoder, decoder"));
}

TEST(AttentionRecord, AWrongMapInAFileIsNamed) {
  const auto complaint = [](const std::string& map) {
    return test::message_of<FileError>([&] {
      (void)parse_attention(R"({"source":["a"],"target":["c"],"weights":[[1]],"attention":[)" + map + "]}", "x:1");
    });
  };
  EXPECT_THAT(complaint(R"({"kind":"self","layer":0,"head":0,"weights":[[1]]})"),
              HasSubstr("x:1: attention[0].kind is \"self\", not one of"));
  EXPECT_THAT(complaint(R"({"kind":7,"layer":0,"head":0,"weights":[[1]]})"), HasSubstr("attention[0].kind is 7"));
  EXPECT_THAT(complaint(R"({"layer":0,"head":0,"queries":["a","b"],"weights":[[1]]})"),
              HasSubstr("attention[0].weights has 1 rows for 2"));
  EXPECT_THAT(complaint(R"({"layer":0,"head":0,"keys":3,"weights":[[1]]})"), HasSubstr("attention[0].keys is 3"));
}

TEST(AttentionRecord, WeightsMayBeMissingOnlyWhereMapsGiveThem) {
  const auto complaint = [](const std::string& map) {
    return test::message_of<FileError>(
        [&] { (void)parse_attention(R"({"source":["a"],"target":["c"],"attention":[)" + map + "]}", "x:1"); });
  };
  EXPECT_EQ(complaint(R"({"kind":"encoder","layer":0,"head":0,"weights":[[1]]})"), "x:1: weights is missing");
  EXPECT_THAT(complaint(R"({"layer":0,"head":0,"queries":["c","d"],"weights":[[1],[1]]})"),
              HasSubstr("x:1: weights is missing, and"));
}

}  // namespace
}  // namespace fovea
