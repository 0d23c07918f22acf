// What options of fovea train do, as its log reports it.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <sstream>

#include "cli/small_training.hpp"

namespace fovea {
namespace {

using test::Ran;
using test::run_cli;

class TrainOptionsCommand : public test::SmallTraining {
 protected:
  // The lines of the log that hold this field.
  std::vector<nlohmann::json> logged(const std::string& model, const std::vector<std::string>& options,
                                     const std::string& field) {
    const Ran r = run_cli(train(model, options));
    EXPECT_EQ(r.code, 0) << r.err;
    std::vector<nlohmann::json> found;
    std::istringstream log(folder_.read(model + "/log.jsonl"));
    for (std::string line; std::getline(log, line);) {
      auto entry = nlohmann::json::parse(line);
      if (entry.contains(field)) found.push_back(std::move(entry));
    }
    return found;
  }
};

constexpr std::int64_t kTokens = 240;  // in the targets of the 60 pairs, the ends included

TEST_F(TrainOptionsCommand, BatchTokensLimitAStep) {
  for (const std::int64_t limit : {32, 100}) {
    const auto model = std::to_string(limit);
    const auto steps = logged(
        model, {"--batch-tokens", model, "--max-epochs", "1", "--report-every", "1", "--checkpoint-every", "1000"},
        "tokens");
    std::int64_t before = 0;
    std::int64_t most = 0;
    for (const auto& step : steps) {
      most = std::max(most, step["tokens"].get<std::int64_t>() - before);
      before = step["tokens"].get<std::int64_t>();
    }
    EXPECT_EQ(before, kTokens);
    EXPECT_LE(most, limit);
    EXPECT_GT(most, limit * 3 / 4);
  }
}

TEST_F(TrainOptionsCommand, WithoutALimitThereAreTwentyEpochs) {
  const auto steps = logged("m", {"--batch-tokens", "400", "--checkpoint-every", "1000"}, "tokens");
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps.back()["tokens"], 20 * kTokens);
}

TEST_F(TrainOptionsCommand, CosineEndsWithTheLastStep) {
  const auto steps = logged(
      "m", {"--schedule", "cosine", "--max-steps", "10", "--report-every", "1", "--checkpoint-every", "1000"}, "rate");
  ASSERT_EQ(steps.size(), 10U);
  for (int i = 2; i <= 10; ++i) {
    EXPECT_NEAR(steps[static_cast<std::size_t>(i) - 1]["rate"].get<double>(),
                0.005 * (1 + std::cos(std::numbers::pi * (i - 2) / 8)), 1e-9);
  }
}

TEST_F(TrainOptionsCommand, LinearEndsWithTheLastEpoch) {
  const auto steps = logged("m",
                            {"--schedule", "linear", "--max-epochs", "3", "--batch-tokens", "200", "--report-every",
                             "1", "--checkpoint-every", "1000"},
                            "rate");
  ASSERT_GE(steps.size(), 6U);
  ASSERT_EQ(steps.size() % 3, 0U) << "as many steps in each epoch";
  const auto last = static_cast<double>(steps.size());
  for (std::size_t i = 1; i < steps.size(); ++i) {
    EXPECT_NEAR(steps[i]["rate"].get<double>(), 0.01 * (last - static_cast<double>(i) - 1) / (last - 2), 1e-9) << i;
  }
}

TEST_F(TrainOptionsCommand, TheBestHasTheSmallestLoss) {
  const auto validations =
      logged("m", {"--max-steps", "12", "--checkpoint-every", "2", "--learning-rate", "0.05"}, "valid_loss");
  ASSERT_EQ(validations.size(), 6U);
  double least = std::numeric_limits<double>::infinity();
  for (const auto& v : validations) {
    EXPECT_EQ(v["best"].get<bool>(), v["valid_loss"].get<double>() < least);
    least = std::min(least, v["valid_loss"].get<double>());
  }
}

// The words of the source occur 60, 40 and 20 times, the seven digits 8 or 9 times.
TEST_F(TrainOptionsCommand, MinCountAndVocabLimitTheVocabulary) {
  const auto said = [this](const std::vector<std::string>& options) {
    std::vector<std::string> all{"--max-steps", "1"};
    all.insert(all.end(), options.begin(), options.end());
    std::filesystem::remove_all(file("m"));
    const Ran r = run_cli(train("m", all));
    EXPECT_EQ(r.code, 0) << r.err;
    return r.out + r.err;
  };
  EXPECT_NE(said({}).find("source vocabulary: 14 tokens"), std::string::npos);
  EXPECT_NE(said({"--min-count", "15"}).find("source vocabulary: 7 tokens"), std::string::npos);
  EXPECT_NE(said({"--min-count", "41"}).find("source vocabulary: 5 tokens"), std::string::npos);
  EXPECT_NE(said({"--vocab", "9"}).find("source vocabulary: 9 tokens"), std::string::npos);
}

TEST_F(TrainOptionsCommand, AnotherSeedMakesAnotherModel) {
  for (const char* seed : {"1", "2"}) {
    ASSERT_EQ(run_cli(train(seed, {"--max-steps", "1", "--seed", seed})).code, 0);
  }
  ASSERT_EQ(run_cli(train("default", {"--max-steps", "1"})).code, 0);
  EXPECT_NE(weights("1"), weights("2"));
  EXPECT_EQ(weights("1"), weights("default"));
}

}  // namespace
}  // namespace fovea
