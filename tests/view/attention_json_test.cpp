#include "view/record/attention_file.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "fovea/error.hpp"

namespace fovea::view {
namespace {

std::string complaint(const std::string& line) {
  try {
    (void)parse_attention(line, "run.jsonl:7");
  } catch (const FileError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ParseAttention, TakesWhatRunWrites) {
  const auto p = parse_attention(R"({"source":["a","b"],"target":["c"],"weights":[[0.25,0.75]],"score":-1.5})", "x:1");
  EXPECT_THAT(p.source, testing::ElementsAre("a", "b"));
  EXPECT_THAT(p.weights.values, testing::ElementsAre(0.25F, 0.75F));
  EXPECT_EQ(parse_attention(R"({"source":[],"target":[],"weights":[]})", "x:1").weights.rows, 0);
}

TEST(ParseAttention, TakesHeadsAndTheirMean) {
  const auto p = parse_attention(
      R"({"source":["a","b"],"target":["c"],"attention":[{"layer":0,"head":0,"weights":[[0,1]]},{"layer":1,"head":0,"weights":[[1,0]]}]})",
      "x:1");
  EXPECT_THAT(p.weights.values, testing::ElementsAre(0.5F, 0.5F));
  EXPECT_THAT(chosen_weights(p, 1, {}).values, testing::ElementsAre(1.0F, 0.0F));
  EXPECT_THAT(chosen_weights(p, {}, 0).values, testing::ElementsAre(0.5F, 0.5F));
  EXPECT_THROW((void)chosen_weights(p, 2, {}), UsageError);
}

TEST(ParseAttention, NamesLineAndFieldOfWhatIsWrong) {
  const auto starts = [](const char* text) { return testing::StartsWith(text); };
  EXPECT_THAT(complaint("{"), starts("run.jsonl:7: not valid JSON at byte 2"));
  EXPECT_THAT(complaint("[1]"), starts("run.jsonl:7: not an object"));
  EXPECT_THAT(complaint("{}"), starts("run.jsonl:7: source is missing"));
  EXPECT_THAT(complaint(R"({"source":["a"]})"), starts("run.jsonl:7: target is missing"));
  EXPECT_THAT(complaint(R"({"source":"a","target":[]})"), starts("run.jsonl:7: source is \"a\", not a list"));
  EXPECT_THAT(complaint(R"({"source":["a",1],"target":[]})"), starts("run.jsonl:7: source[1] is 1, not a token"));
  EXPECT_THAT(complaint(R"({"source":["a"],"target":["b"]})"), starts("run.jsonl:7: weights is missing"));
  const auto weights = [&](const std::string& w) {
    return complaint(R"({"source":["a","b"],"target":["c","d"],"weights":)" + w + "}");
  };
  EXPECT_THAT(weights("[[1,0]]"), starts("run.jsonl:7: weights has 1 rows for 2 target tokens"));
  EXPECT_THAT(weights("[[1,0],[1]]"), starts("run.jsonl:7: weights[1] has 1 numbers for 2 source tokens"));
  EXPECT_THAT(weights("[[1,0],[0,\"1\"]]"), starts("run.jsonl:7: weights[1][1] is \"1\", not a weight from 0 to 1"));
  EXPECT_THAT(weights("[[1,0],[0,null]]"), starts("run.jsonl:7: weights[1][1] is null"));
  EXPECT_THAT(weights("[[1,0],[0,[]]]"), starts("run.jsonl:7: weights[1][1] is a list"));
  EXPECT_THAT(weights("[[1,0],[-0.5,0]]"), starts("run.jsonl:7: weights[1][0] is -0.5"));
  EXPECT_THAT(weights("[[1,0],[1e30,0]]"), starts("run.jsonl:7: weights[1][0] is 1e+30"));
  EXPECT_THAT(weights("[[1,0],[1e999,0]]"), starts("run.jsonl:7: not valid JSON"));
  EXPECT_THAT(weights("[[1,0],[NaN,0]]"), starts("run.jsonl:7: not valid JSON"));
  EXPECT_THAT(weights("[[1,0],7]"), starts("run.jsonl:7: weights[1] is 7, not a list"));
  const auto heads = [&](const std::string& h) {
    return complaint(R"({"source":["a"],"target":["c"],"weights":[[1]],"attention":)" + h + "}");
  };
  EXPECT_THAT(heads("3"), starts("run.jsonl:7: attention is 3, not a list"));
  EXPECT_THAT(heads("[3]"), starts("run.jsonl:7: attention[0] is 3, not an object"));
  EXPECT_THAT(heads(R"([{"head":0,"weights":[[1]]}])"), starts("run.jsonl:7: attention[0].layer is missing"));
  EXPECT_THAT(heads(R"([{"layer":-1,"head":0,"weights":[[1]]}])"), starts("run.jsonl:7: attention[0].layer is -1"));
  EXPECT_THAT(heads(R"([{"layer":0,"head":1e99,"weights":[[1]]}])"), starts("run.jsonl:7: attention[0].head is 1e+99"));
  EXPECT_THAT(heads(R"([{"layer":0,"head":0,"weights":[[2]]}])"),
              starts("run.jsonl:7: attention[0].weights[0][0] is 2"));
}

TEST(ParseAttention, SurvivesHostileLines) {
  EXPECT_THAT(complaint(std::string(1000000, '[')), testing::StartsWith("run.jsonl:7: nested more than"));
  EXPECT_THAT(complaint("{\"source\":[\"\xff\"]}"), testing::StartsWith("run.jsonl:7: not valid JSON"));
  const auto nested = [](std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  EXPECT_THAT(complaint("{\"source\":" + nested(100000) + "}"), testing::StartsWith("run.jsonl:7: nested more than"));
  EXPECT_THAT(complaint("{\"source\":" + nested(20) + "}"), testing::StartsWith("run.jsonl:7: source[0] is a list"));
  EXPECT_LT(complaint("{\"source\":\"" + std::string(100000, 'x') + "\"}").size(), 200U);
}

TEST(ReadAttention, CountsLinesAndSkipsBlankOnes) {
  const std::string good = R"({"source":["a"],"target":["b"],"weights":[[1]]})";
  std::istringstream in(good + "\n\n" + good + "\r\n");
  std::vector<std::int64_t> seen;
  const auto note = [&](std::int64_t line, const AttentionRecord&) { seen.push_back(line); };
  EXPECT_EQ(read_attention(in, "f", 0, note), 3);
  EXPECT_THAT(seen, testing::ElementsAre(1, 3));

  std::istringstream later("broken\n" + good);
  seen.clear();
  read_attention(later, "f", 2, note);  // a line that was not asked for may be anything
  EXPECT_THAT(seen, testing::ElementsAre(2));
}

}  // namespace
}  // namespace fovea::view
