#include "kernels/math.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/kernels.hpp"

namespace fovea::kernels {
namespace {

TEST(Math, EveryKernelAgreesWithGeneric) {
  for (const Table* table : available()) {
    for (const std::size_t n : {1U, 7U, 8U, 9U, 33U}) {
      std::vector<float> x(n);
      for (std::size_t i = 0; i < n; ++i) x[i] = -3.0F + 0.2F * static_cast<float>(i);
      std::vector<float> expected(n);
      std::vector<float> actual(n);
      available()[0]->math->exp(x.data(), expected.data(), n);
      table->math->exp(x.data(), actual.data(), n);
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_NEAR(actual[i], expected[i], 3e-7F * expected[i]) << table->name << " n " << n;
      }
    }
  }
}

}  // namespace
}  // namespace fovea::kernels
