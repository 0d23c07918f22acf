#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/files.hpp"

namespace fovea::cli {
namespace {

nlohmann::json bench(std::vector<std::string> more) {
  std::vector<std::string> all{"bench", "attention", "--batch", "1",         "--heads", "2",        "--dim",
                               "8",     "--threads", "1",       "--seconds", "0.001",   "--queries"};
  all.insert(all.end(), more.begin(), more.end());
  const test::Ran ran = test::run_cli(all);
  EXPECT_EQ(ran.code, 0) << ran.err;
  return nlohmann::json::parse(ran.out, nullptr, false);
}

TEST(BenchAttention, MeasuresEveryScoreForwardAndBackward) {
  for (const char* score : {"dot", "scaled-dot", "general", "cosine", "additive", "concat", "location"}) {
    for (const char* pass : {"", "--backward"}) {
      SCOPED_TRACE(std::string(score) + pass);
      std::vector<std::string> more{"16", "--keys", "16", "--score", score};
      if (*pass != 0) more.emplace_back(pass);
      const auto figures = bench(more);
      EXPECT_GT(figures.value("median_ms", 0.0), 0);
      EXPECT_GT(figures.value("gflops", 0.0), 0);
      EXPECT_GT(figures.value("peak_rss_mb", 0.0), 0);
    }
  }
}

TEST(BenchAttention, TheFractionCountsOnlyWhatIsSeen) {
  // Of 256 causal queries on 8 keys only the last eight see any: 36 pairs of 2,048.
  const auto figures = bench({"256", "--keys", "8", "--causal"});
  const double counted = figures["fraction"].get<double>() * figures["peak_gflops"].get<double>();
  EXPECT_NEAR(counted / figures["gflops"].get<double>(), 36.0 / 1024, 1e-6);
}

TEST(BenchAttention, TopGoesWithTheTilesAlone) {
  EXPECT_EQ(test::run_cli({"bench", "attention", "--score", "cosine", "--top", "2"}).code, 2);
}

}  // namespace
}  // namespace fovea::cli
