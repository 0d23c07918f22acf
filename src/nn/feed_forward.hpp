// relu(x W1 + b1) W2 + b2 at every position (Vaswani et al. 2017, eq. 2).
#pragma once

#include <string>

#include "nn/linear.hpp"
#include "nn/pass.hpp"

namespace fovea {

struct FeedForward {
  FeedForward() = default;
  FeedForward(Parameters& p, const std::string& name, std::int64_t width, std::int64_t inner)
      : first(p, name + ".first", width, inner), second(p, name + ".second", inner, width) {}
  Var operator()(const Var& x, Pass& pass) const {
    const float rate = pass.dropout.inner;
    return second(first(x, Activation::relu, rate, rate > 0 ? pass.next_seed() : 0));
  }

  Linear first;
  Linear second;
};

}  // namespace fovea
