// What the tests of ops share: every kernel table, odd sizes, errors that name the shapes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "fovea/threads.hpp"
#include "kernels/kernels.hpp"
#include "support/gradcheck.hpp"

namespace fovea::test {

inline constexpr std::int64_t kSizes[] = {1, 7, 8, 9, 33};

/// Runs each TEST_P with every kernel table this CPU has.
class OpTest : public ::testing::TestWithParam<const kernels::Table*> {
 protected:
  kernels::ScopedKernels scope_{*GetParam()};
};

#define FOVEA_EVERY_TABLE(suite)                                                                          \
  INSTANTIATE_TEST_SUITE_P(Tables, suite,                                                                 \
                           ::testing::ValuesIn(kernels::available().begin(), kernels::available().end()), \
                           [](const auto& info) { return std::string(info.param->name); })

/// Puts the number of threads back at its end.
class ThreadsRestored {
 public:
  ThreadsRestored() = default;
  ~ThreadsRestored() { set_threads(before_); }
  ThreadsRestored(const ThreadsRestored&) = delete;
  ThreadsRestored& operator=(const ThreadsRestored&) = delete;

 private:
  int before_ = threads();
};

inline bool same_bytes(const Tensor& a, const Tensor& b) {
  const Tensor x = a.contiguous();
  const Tensor y = b.contiguous();
  return x.shape() == y.shape() &&
         std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.size()) * sizeof(float)) == 0;
}

/// The call must throw a ShapeError whose text has all of `parts`.
template <class Call, class... Parts>
void expect_shape_error(Call&& call, const Parts&... parts) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const ShapeError& error) {
    for (const std::string& part : {std::string(parts)...}) EXPECT_THAT(error.what(), ::testing::HasSubstr(part));
  }
}

}  // namespace fovea::test
