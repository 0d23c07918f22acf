#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/files.hpp"

namespace fovea {
namespace {

nlohmann::json bench(const std::string& what, std::vector<std::string> more) {
  more.insert(more.begin(), {"bench", what, "--vocab", "50", "--seconds", "0.1"});
  const test::Ran ran = test::run_cli(more);
  EXPECT_EQ(ran.code, 0) << ran.err;
  const std::size_t last = ran.out.find_last_of('\n', ran.out.size() - 2);
  return nlohmann::json::parse(ran.out.substr(last == std::string::npos ? 0 : last + 1), nullptr, false);
}

TEST(BenchDecode, EveryWayToReadTheOutputIsMeasured) {
  for (const char* self : {"attention", "ssru", "average"}) {
    const auto decoding = bench("decode", {"--length", "3", "--decoder-self", self});
    EXPECT_GT(decoding.value("sentences_per_s", 0.0), 0) << self;
    EXPECT_GT(decoding.value("gflops", 0.0), 0) << self;
    EXPECT_GT(bench("train", {"--batch-tokens", "60", "--decoder-self", self}).value("target_tokens_per_s", 0.0), 0);
  }
  EXPECT_EQ(test::run_cli({"bench", "decode", "--preset", "cnn", "--decoder-self", "ssru"}).code, 2);
}

}  // namespace
}  // namespace fovea
