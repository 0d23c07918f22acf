// Gradients of inputs and of every weight that a layer asks for.
#pragma once

#include <functional>
#include <vector>

#include "fovea/nn/parameters.hpp"
#include "support/gradcheck.hpp"

namespace fovea::test {

/// Moves every weight away from where it starts: a bias of 0 hides what is wrong with its gradient.
inline void scatter(const Parameters& parameters) {
  unsigned seed = 100;
  for (const auto& entry : parameters.entries()) {
    const Tensor noise = random_tensor(entry.weight.shape(), seed++, 0.5F);
    for (std::int64_t i = 0; i < noise.size(); ++i) entry.weight.value().data()[i] += noise.data()[i];
  }
}

/// check_gradients() of a layer that the function builds from its parameters: the weights are leaves too.
inline void check_gradients(const std::function<Var(Parameters&, const std::vector<Var>&)>& function,
                            const std::vector<Tensor>& inputs, const GradCheck& how = {}) {
  Parameters parameters(7);
  std::vector<Var> in;
  for (const Tensor& t : inputs) in.push_back(Var::parameter(t.clone()));
  {
    const NoGrad quiet;
    (void)function(parameters, in);
  }
  ASSERT_FALSE(parameters.entries().empty());
  scatter(parameters);
  std::vector<Var> leaves = in;
  for (const auto& entry : parameters.entries()) leaves.push_back(entry.weight);
  check_gradients_of([&] { return function(parameters, in); }, leaves, how);
}

}  // namespace fovea::test
