#include "train/gradient_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "fovea/error.hpp"
#include "support/thread_processes.hpp"

namespace fovea {
namespace {

constexpr std::int64_t kWeights = 5 + 21 + 1;

// A copy of a small model with gradients that no order of adding leaves the same.
std::unique_ptr<Parameters> copy_number(int copy) {
  auto parameters = std::make_unique<Parameters>(1);
  int k = 0;
  for (const Shape& shape : {Shape{5}, Shape{3, 7}, Shape{1}}) {
    const Var weight = parameters->get("w" + std::to_string(k), shape, Init::zeros);
    Tensor gradient = Tensor::zeros(shape);
    for (float& v : gradient.values()) {
      v = static_cast<float>(std::sin(1.0 + copy * 37 + k) * std::pow(10.0, (copy + k) % 5));
      ++k;
    }
    weight.accumulate(gradient);
  }
  return parameters;
}

std::vector<float> gradients(const Parameters& parameters) {
  std::vector<float> all;
  for (const auto& entry : parameters.entries()) {
    const Tensor gradient = entry.weight.grad();
    all.insert(all.end(), gradient.values().begin(), gradient.values().end());
  }
  return all;
}

// What each process has as the sum.
std::vector<std::vector<float>> sums(int copies, int count, std::int64_t* sent = nullptr) {
  std::vector<std::vector<float>> all(static_cast<std::size_t>(count));
  test::in_processes(count, [&](test::ThreadProcesses& own) {
    GradientSum sum(own, copies);
    std::vector<std::unique_ptr<Parameters>> local;
    std::vector<const Parameters*> pointers;
    for (int i = 0; i < sum.local(); ++i) pointers.push_back(local.emplace_back(copy_number(sum.first() + i)).get());
    sum(pointers);
    for (std::size_t i = 1; i < pointers.size(); ++i) {
      for (const float v : gradients(*pointers[i])) EXPECT_EQ(v, 0) << "the gradient of a copy was not taken";
    }
    all[static_cast<std::size_t>(own.rank())] = gradients(*pointers[0]);
    if (sent != nullptr && own.first()) *sent = own.sent;
  });
  return all;
}

TEST(GradientSum, IsTheSum) {
  for (const int copies : {1, 2, 3, 8}) {
    std::vector<double> wanted(kWeights, 0.0);
    std::vector<double> size(kWeights, 0.0);
    for (int copy = 0; copy < copies; ++copy) {
      const auto part = gradients(*copy_number(copy));
      for (std::size_t i = 0; i < part.size(); ++i) {
        wanted[i] += part[i];
        size[i] += std::abs(part[i]);
      }
    }
    const auto sum = sums(copies, 1)[0];
    for (std::size_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(sum[i], wanted[i], 1e-6 * size[i]) << copies;
  }
}

TEST(GradientSum, HasTheSameBytesInAnyNumberOfProcesses) {
  for (const int copies : {2, 3, 4, 5, 6, 7, 8, 13}) {
    const auto alone = sums(copies, 1)[0];
    for (int count = 2; count <= copies; ++count) {
      for (const auto& sum : sums(copies, count)) EXPECT_EQ(sum, alone) << copies << " copies, " << count;
    }
  }
}

// Half of the gradient to the other process, and half of the sum.
TEST(GradientSum, TwoProcessesSendTheSizeOfTheGradientEach) {
  std::int64_t sent = 0;
  (void)sums(8, 2, &sent);
  EXPECT_NEAR(static_cast<double>(sent), kWeights * sizeof(float), sizeof(float));
}

TEST(GradientSum, FewerCopiesThanProcessesAreRefused) {
  test::in_processes(3, [](Processes& own) { EXPECT_THROW(GradientSum(own, 2), UsageError); });
}

}  // namespace
}  // namespace fovea
