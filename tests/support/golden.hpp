// Golden values: what PyTorch computed in double precision (tests/golden/make.py).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fovea/safetensors.hpp"
#include "fovea/var.hpp"

namespace fovea::test {

/// tests/golden/NAME.safetensors: inputs and outputs by name, "r.OUTPUT" = dL/d(output), "d.INPUT" = dL/d(input).
class Golden {
 public:
  explicit Golden(const std::string& name)
      : file_(std::string(FOVEA_SOURCE_DIR) + "/tests/golden/" + name + ".safetensors") {}

  [[nodiscard]] Var leaf(const std::string& name) const { return Var::parameter(file_.tensor(name).clone()); }
  [[nodiscard]] std::vector<std::int64_t> lengths() const { return file_.integers("lengths").values; }
  void expect(const std::string& name, const Tensor& actual, float tolerance = 2e-5F) const {
    const Tensor expected = file_.tensor(name);
    ASSERT_EQ(actual.shape(), expected.shape()) << name;
    const Tensor values = actual.contiguous();
    for (std::int64_t i = 0; i < expected.size(); ++i) {
      const float want = expected.data()[i];
      ASSERT_NEAR(values.data()[i], want, tolerance * std::max(1.0F, std::abs(want))) << name << " value " << i;
    }
  }
  void expect_gradient(const std::string& name, const Var& leaf) const { expect("d." + name, leaf.grad()); }
  void check(const std::string& name, const Var& output) const { expect(name, output.value()); }
  /// dL/d(output) of the golden run.
  [[nodiscard]] Tensor r(const std::string& name) const { return file_.tensor("r." + name); }

 private:
  Safetensors file_;
};

/// L = sum of output * r, so that one walk reaches every output.
inline Var weigh(const Var& output, const Tensor& r) {
  double total = 0;
  const Tensor y = output.value().contiguous();
  for (std::int64_t i = 0; i < y.size(); ++i) total += static_cast<double>(y.data()[i]) * r.data()[i];
  return record(Tensor::full({}, static_cast<float>(total)), {output},
                [output, r](const Tensor&) { output.accumulate(r); });
}

}  // namespace fovea::test
