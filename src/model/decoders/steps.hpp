// The results of a decoder's steps as one array.
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/attention/attend.hpp"
#include "fovea/tensor.hpp"

namespace fovea {

/// An array [rows, width] of each step.
class Steps {
 public:
  void add(const Tensor& step) { steps_.push_back(step.clone()); }
  /// [rows, steps, width].
  [[nodiscard]] Tensor all() const;

 private:
  std::vector<Tensor> steps_;
};

/// The `count` largest weights of each step; its memory does not depend on the number of keys.
class LargestOfSteps {
 public:
  explicit LargestOfSteps(std::int64_t count) : count_(count) {}
  void add(const Tensor& weights);  // [rows, keys]; ignored if count is 0
  /// As attend() gives them, [rows, steps, count].
  [[nodiscard]] TopWeights all() const;

 private:
  std::int64_t count_, rows_ = 0;
  std::vector<float> weight_;        // step after step [rows, count]
  std::vector<std::int64_t> index_;  // of each its key
};

}  // namespace fovea
