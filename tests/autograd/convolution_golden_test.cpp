#include <gtest/gtest.h>

#include "fovea/convolution.hpp"
#include "fovea/ops.hpp"
#include "support/golden.hpp"

namespace fovea {
namespace {

using test::Golden;
using test::weigh;

TEST(Conv1d, GluAgreesWithPyTorch) {
  const Golden golden("conv1d_glu");
  const Var x = golden.leaf("x");
  const Var w = golden.leaf("weights");
  const Var b = golden.leaf("bias");
  const Var y = conv1d_glu(x, w, b, {.lengths = golden.lengths()});
  golden.check("y", y);
  backward(y, golden.r("y"));
  golden.expect_gradient("x", x);
  golden.expect_gradient("weights", w);
  golden.expect_gradient("bias", b);
}

TEST(Conv2d, AgreesWithPyTorch) {
  const Golden golden("conv2d");
  const Var x = golden.leaf("x");
  const Var w = golden.leaf("weights");
  const Var b = golden.leaf("bias");
  const Var y = conv2d(x, w, b, {.height = 3, .width = 2, .stride_y = 2, .stride_x = 1, .pad_y = 1, .pad_x = 0});
  golden.check("y", y);
  backward(y, golden.r("y"));
  golden.expect_gradient("x", x);
  golden.expect_gradient("weights", w);
  golden.expect_gradient("bias", b);
}

TEST(Pool2d, AgreesWithPyTorch) {
  const Golden golden("pool2d");
  const Var x = golden.leaf("x");
  const Window2d window{.height = 3, .width = 2, .stride_y = 2, .stride_x = 2, .pad_y = 1, .pad_x = 1};
  const Var most = max_pool2d(x, window);
  const Var mean = average_pool2d(x, window);
  golden.check("most", most);
  golden.check("mean", mean);
  backward(add(weigh(most, golden.r("most")), weigh(mean, golden.r("mean"))));
  golden.expect_gradient("x", x);
}

}  // namespace
}  // namespace fovea
