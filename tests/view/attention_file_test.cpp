#include "view/record/attention_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(AttentionFile, LinesComeBackAsTheSameRecords) {
  const TemporaryFolder folder;
  const std::vector<AttentionRecord> records{example(), AttentionRecord{}, example()};
  const std::string file = folder.write("a.jsonl", attention_lines(records, true));
  const auto read = all(file);
  ASSERT_EQ(read.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(to_json(read[i]), to_json(records[i]));
  EXPECT_EQ(all(file, 2).at(0).source.size(), 0U);
  EXPECT_THAT(folder.read("a.jsonl"), HasSubstr("\"attention\":[]}"));
}

TEST(AttentionFile, TheLargestWeightsOfALongTextComeBack) {
  const TemporaryFolder folder;
  AttentionRecord record;
  record.source = {"a", "b", "c"};
  record.target = {"x", "y"};
  record.largest = {2, 3, 2, {2, 0, 1, 0}, {0.75F, 0.25F, 1, 0}};
  record.maps.push_back({AttentionKind::cross, 0, 0, record.target, record.source, {}, record.largest});
  const std::string file = folder.write("a.jsonl", attention_lines(std::span(&record, 1)));
  EXPECT_EQ(to_json(all(file).at(0)), to_json(record));
}

}  // namespace
}  // namespace fovea::view
