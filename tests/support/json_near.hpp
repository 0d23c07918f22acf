// Numbers in JSON that may differ in their last digits.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace fovea::test {

/// The same rows of numbers, but for rounding: a decoder that steps adds in another order than one that is given the
/// whole output.
inline void expect_near(const nlohmann::json& a, const nlohmann::json& b, double tolerance = 1e-6) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].is_array()) {
      expect_near(a[i], b[i], tolerance);
    } else {
      EXPECT_NEAR(a[i].get<double>(), b[i].get<double>(), tolerance) << i;
    }
  }
}

}  // namespace fovea::test
