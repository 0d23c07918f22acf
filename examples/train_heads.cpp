// A model trained from nothing: multi-head attention learns to say a sequence backwards, in plain gradient descent.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "fovea/fovea.hpp"

using namespace fovea;

constexpr std::int64_t kLength = 5, kWords = 7, kDim = 16, kBatch = 16;

// Numbers from -0.5 to 0.5, the same every time.
Tensor scattered(const Shape& shape, std::uint32_t seed) {
  Tensor t = Tensor::empty(shape);
  for (float& v : t.values()) v = static_cast<float>((seed = seed * 1664525U + 1013904223U) >> 8U) / (1U << 24U) - 0.5F;
  return t;
}

int main() {
  const Var words = Var::parameter(scattered({kWords, kDim}, 1));    // embeddings
  const Var places = Var::parameter(scattered({kLength, kDim}, 2));  // positions
  const Var answers = Var::parameter(scattered({kWords, kDim}, 3));  // output layer
  const Var bias = Var::parameter(Tensor::zeros({kWords}));
  const MultiHead heads = MultiHead::make({.dim = kDim, .heads = 2}, 4);
  std::vector<Var> parameters = {words, places, answers, bias};
  for (const auto& [name, parameter] : heads.parameters()) parameters.push_back(parameter);

  std::uint32_t dice = 99;
  for (int step = 0; step <= 300; ++step) {
    std::vector<std::int32_t> said, backwards;
    for (std::int64_t i = 0; i < kBatch * kLength; ++i) {
      said.push_back(1 + static_cast<std::int32_t>((dice = dice * 1664525U + 1013904223U) >> 16U) % (kWords - 1));
    }
    for (std::int64_t b = 0; b < kBatch; ++b) {
      for (std::int64_t t = 0; t < kLength; ++t) {
        backwards.push_back(said[static_cast<std::size_t>(b * kLength + kLength - 1 - t)]);
      }
    }
    const Var x = add_rows(embedding(words, said, {kBatch, kLength}), places);
    const Attended seen = heads(x, x, {.want = {.top = 1}});
    const CrossEntropy result = linear_cross_entropy(seen.context, answers, bias, backwards);
    backward(result.loss);
    for (const Var& p : parameters) {
      const Tensor gradient = p.grad();
      for (std::int64_t i = 0; i < gradient.size(); ++i) p.value().data()[i] -= 0.004F * gradient.data()[i];
      p.zero_grad();
    }
    if (step % 300 == 0) {
      std::printf("step %3d: %d of %d right\n", step, static_cast<int>(result.correct),
                  static_cast<int>(result.tokens));
    }
    for (std::int64_t t = 0; step == 300 && t < kLength; ++t) {
      std::printf("place %d looks at place %d\n", static_cast<int>(t),
                  static_cast<int>(seen.top.index[static_cast<std::size_t>(t)]));
    }
  }
}
