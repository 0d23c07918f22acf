#include "model/decoders/steps.hpp"

#include <algorithm>
#include <numeric>

namespace fovea {

Tensor Steps::all() const {
  const std::int64_t rows = steps_[0].dim(0);
  const std::int64_t width = steps_[0].dim(1);
  const auto count = static_cast<std::int64_t>(steps_.size());
  Tensor out = Tensor::empty({rows, count, width});
  for (std::int64_t t = 0; t < count; ++t) {
    for (std::int64_t r = 0; r < rows; ++r) {
      std::copy_n(steps_[static_cast<std::size_t>(t)].data() + r * width, width, out.data() + (r * count + t) * width);
    }
  }
  return out;
}

void LargestOfSteps::add(const Tensor& weights) {
  if (count_ == 0) return;
  rows_ = weights.dim(0);
  std::vector<std::int64_t> order(static_cast<std::size_t>(weights.dim(1)));
  for (std::int64_t r = 0; r < rows_; ++r) {
    const float* w = weights.data() + r * weights.dim(1);
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + count_, order.end(),
                      [w](std::int64_t a, std::int64_t b) { return w[a] != w[b] ? w[a] > w[b] : a < b; });
    for (std::int64_t n = 0; n < count_; ++n) {
      index_.push_back(order[static_cast<std::size_t>(n)]);
      weight_.push_back(w[index_.back()]);
    }
  }
}

TopWeights LargestOfSteps::all() const {
  const std::int64_t steps = rows_ == 0 ? 0 : static_cast<std::int64_t>(weight_.size()) / (rows_ * count_);
  TopWeights top{Tensor::empty({rows_, steps, count_}), {}};
  top.index.resize(index_.size());
  for (std::int64_t t = 0; t < steps; ++t) {
    for (std::int64_t r = 0; r < rows_; ++r) {
      const std::int64_t from = (t * rows_ + r) * count_;
      const std::int64_t to = (r * steps + t) * count_;
      std::copy_n(weight_.begin() + from, count_, top.weight.data() + to);
      std::copy_n(index_.begin() + from, count_, top.index.begin() + to);
    }
  }
  return top;
}

}  // namespace fovea
