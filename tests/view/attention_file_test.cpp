#include "view/attention_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/error.hpp"
#include "support/files.hpp"

namespace fovea::view {
namespace {

using test::TemporaryFolder;
using testing::HasSubstr;

AttentionRecord example() {
  AttentionRecord record;
  record.title = "a title";
  record.source = {"▁it", "</s>"};
  record.target = {"它", "。", "</s>"};
  record.copied = {0, 0.7F, 0.1F};
  record.weights = {3, 2, {0.25F, 0.75F, 1, 0, 0.1F, 0.9F}};
  record.maps.push_back({AttentionKind::cross, 1, 0, record.target, record.source, record.weights, {}});
  record.maps.push_back({AttentionKind::encoder, 0, 3, record.source, record.source, {2, 2, {1, 0, 0.5F, 0.5F}}, {}});
  return record;
}

std::vector<AttentionRecord> all(const std::string& file, std::int64_t only = 0) {
  std::vector<AttentionRecord> records;
  (void)read_attention(std::filesystem::path(file), only,
                       [&](std::int64_t, AttentionRecord r) { records.push_back(std::move(r)); });
  return records;
}

TEST(AttentionFile, BothFormsGiveTheSameRecords) {
  const TemporaryFolder folder;
  for (const char* name : {"a.jsonl", "a.safetensors"}) {
    AttentionWriter writer(folder.path(name));
    writer.add(example());
    writer.add(AttentionRecord{}, true);
    writer.add(example());
    EXPECT_FALSE(std::filesystem::exists(folder.path(name))) << "before it is committed";
    writer.prepare();
    writer.commit();
  }
  const auto json = all(folder.path("a.jsonl"));
  const auto binary = all(folder.path("a.safetensors"));
  ASSERT_EQ(json.size(), 3U);
  ASSERT_EQ(binary.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(to_json(json[i]), to_json(binary[i]));
  EXPECT_EQ(to_json(binary[0]), to_json(example()));
  EXPECT_EQ(all(folder.path("a.safetensors"), 2).at(0).source.size(), 0U);
  EXPECT_THAT(folder.read("a.jsonl"), HasSubstr("\"attention\":[]}"));
}

TEST(AttentionFile, TheLargestWeightsOfALongTextComeBack) {
  const TemporaryFolder folder;
  AttentionRecord record;
  record.source = {"a", "b", "c"};
  record.target = {"x", "y"};
  record.largest = {2, 3, 2, {2, 0, 1, 0}, {0.75F, 0.25F, 1, 0}};
  record.maps.push_back({AttentionKind::cross, 0, 0, record.target, record.source, {}, record.largest});
  for (const char* name : {"a.jsonl", "a.safetensors"}) {
    AttentionWriter writer(folder.path(name));
    writer.add(record);
    writer.commit();
    EXPECT_EQ(to_json(all(folder.path(name)).at(0)), to_json(record)) << name;
  }
}

TEST(AttentionFile, TheBinaryFormHasATensorForEachHead) {
  const TemporaryFolder folder;
  AttentionWriter writer(folder.path("a.safetensors"));
  writer.add(example());
  writer.commit();
  const Safetensors file(folder.path("a.safetensors"));
  EXPECT_EQ(file.entries().size(), 3U);
  EXPECT_EQ(file.tensor("1.weights").shape(), (Shape{3, 2}));
  EXPECT_EQ(file.tensor("1.encoder.0.3").data()[2], 0.5F);
  EXPECT_TRUE(file.contains("1.cross.1.0"));
}

TEST(AttentionFile, WhatDoesNotFitIsAnError) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& tokens, const AttentionMatrix& m) {
    SafetensorsWriter out;
    if (!tokens.empty()) out.set_metadata("attention", tokens);
    out.add("1.weights", Tensor::of({m.rows, m.columns}, m.values));
    out.write(folder.path("x.safetensors"));
    try {
      (void)all(folder.path("x.safetensors"));
    } catch (const FileError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  const AttentionMatrix one{1, 1, {1}};
  EXPECT_EQ(error(R"([{"source":["a"],"target":["b"]}])", one), "no error");
  EXPECT_THAT(error("", one), HasSubstr("is not a file of attention"));
  EXPECT_THAT(error("{}", one), HasSubstr("not a list"));
  EXPECT_THAT(error("[1]", one), HasSubstr("x.safetensors:1: the tokens cannot be read"));
  EXPECT_THAT(error(R"([{"source":["a"],"target":["b"],"copied":[0,1]}])", one),
              HasSubstr("2 shares of copying for 1"));
  EXPECT_THAT(error(R"([{"source":["a","b"],"target":["b"]}])", one), HasSubstr("for 1 queries and 2 keys"));
  EXPECT_THAT(error(R"([{"source":["a"],"target":["b"]}])", {1, 1, {2}}), HasSubstr("not a weight from 0 to 1"));
  EXPECT_THAT(error(R"([{"source":["a"],"target":["b"]},{"source":["a"],"target":["b"]}])", one),
              HasSubstr("2.weights"));
  EXPECT_THAT(
      error(R"([{"source":["a"],"target":["b"],"maps":[{"kind":"x","layer":0,"head":0,"queries":[],"keys":[]}]}])",
            one),
      HasSubstr("x.safetensors:1: "));
}

TEST(AttentionFile, TwoMapsOfOneHeadAreRefused) {
  const TemporaryFolder folder;
  AttentionRecord twice = example();
  twice.maps.push_back(twice.maps[0]);
  AttentionWriter writer(folder.path("a.safetensors"));
  EXPECT_THROW(writer.add(twice), UsageError);
}

}  // namespace
}  // namespace fovea::view
