// A model trained from random weights: multi-head attention learns to reverse a sequence, by plain gradient descent.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "fovea/fovea.hpp"

using namespace fovea;

constexpr std::int64_t kLength = 5, kWords = 7, kDim = 16, kBatch = 16;

int main() {
  Parameters parameters(4);
  const Var words = parameters.get("words", {kWords, kDim}, Init::uniform(0.5));  // embeddings
  const Var positions = parameters.get("positions", {kLength, kDim}, Init::uniform(0.5));
  const Var output = parameters.get("output.weight", {kWords, kDim}, Init::uniform(0.5));  // output layer
  const Var bias = parameters.get("output.bias", {kWords}, Init::zeros);
  const MultiHead heads(parameters, "attention", {.dim = kDim, .heads = 2});

  std::uint32_t dice = 99;
  for (int step = 0; step <= 300; ++step) {
    std::vector<std::int32_t> source, target;
    for (std::int64_t i = 0; i < kBatch * kLength; ++i) {
      source.push_back(1 + static_cast<std::int32_t>((dice = dice * 1664525U + 1013904223U) >> 16U) % (kWords - 1));
    }
    for (std::int64_t b = 0; b < kBatch; ++b) {
      for (std::int64_t t = 0; t < kLength; ++t) {
        target.push_back(source[static_cast<std::size_t>(b * kLength + kLength - 1 - t)]);
      }
    }
    const Var x = add_rows(embedding(words, source, {kBatch, kLength}), positions);
    const Attended attended = heads(x, x, {.want = {.top = 1}});
    const CrossEntropy result = linear_cross_entropy(attended.context, output, bias, target);
    backward(result.loss);
    for (const auto& entry : parameters.entries()) {
      const Tensor gradient = entry.weight.grad();
      for (std::int64_t i = 0; i < gradient.size(); ++i) entry.weight.value().data()[i] -= 0.004F * gradient.data()[i];
    }
    parameters.zero_grad();
    if (step % 300 == 0) {
      std::printf("step %3d: %d of %d correct\n", step, static_cast<int>(result.correct),
                  static_cast<int>(result.tokens));
    }
    for (std::int64_t t = 0; step == 300 && t < kLength; ++t) {
      std::printf("position %d attends to position %d\n", static_cast<int>(t),
                  static_cast<int>(attended.top.index[static_cast<std::size_t>(t)]));
    }
  }
}
