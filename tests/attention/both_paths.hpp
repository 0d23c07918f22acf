// attend() by the tiled kernels and by rows, for tests that hold both to the same property.
#pragma once

#include <vector>

#include "attention/rows/rows.hpp"
#include "fovea/attention.hpp"
#include "support/gradcheck.hpp"

namespace fovea::test {

using Attend = Attended (*)(const Var&, const Var&, const Var&, const AttendOptions&);
constexpr Attend kBothPaths[] = {attend, attention::attend_by_rows};

inline void expect_near(const Tensor& a, const Tensor& b, double tolerance) {
  ASSERT_EQ(a.shape(), b.shape());
  const Tensor x = a.contiguous();
  const Tensor y = b.contiguous();
  for (std::int64_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x.data()[i], y.data()[i], tolerance) << "value " << i;
}

inline void expect_same_bytes(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  const Tensor x = a.contiguous();
  const Tensor y = b.contiguous();
  for (std::int64_t i = 0; i < x.size(); ++i) ASSERT_EQ(x.data()[i], y.data()[i]) << "value " << i;
}

}  // namespace fovea::test
