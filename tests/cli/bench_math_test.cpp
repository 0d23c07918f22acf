#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/run.hpp"

namespace fovea::cli {
namespace {

TEST(BenchMath, LastLineIsOneJsonObjectWithEveryTable) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  ASSERT_EQ(run({"bench", "math", "--seconds", "0.001"}, {in, out, err}), 0) << err.str();
  const auto json = nlohmann::json::parse(out.str());
  EXPECT_EQ(json["functions"][0]["name"], "exp");
  EXPECT_EQ(json["functions"][0]["kernels"], "generic");
  for (const auto& row : json["functions"]) {
    EXPECT_GT(row["ns"].get<double>(), 0);
    EXPECT_LT(row["max_ulp"].get<double>(), 5) << row.dump();
  }
}

}  // namespace
}  // namespace fovea::cli
