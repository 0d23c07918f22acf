// Attention with a score of your own, from the formula to a trained model. The score is s(q, k) = -g |q - k|^2, where g
// is learned: a query attends to the keys near it. The model learns to reverse a sequence.
#include <cstdio>
#include <random>

#include "fovea/fovea.hpp"

using namespace fovea;
constexpr std::int64_t kLength = 5, kWords = 12, kDim = 32, kBatch = 32;

// The formula with Fovea's ops, for a block: queries [n, dim] and keys [m, dim] to scores [n, m]. -g |q|^2 is the same
// for all keys of a query, so softmax cancels it: g (2 q.k - |k|^2) remains. The gradient follows from the ops.
Var gaussian(const Var& queries, const Var& keys, std::span<const Var> parameters) {
  const Var near = 2 * matmul(queries, keys, {.transpose_b = true}) - sum(keys * keys, 1);
  return reshape(matmul(reshape(near, {-1, 1}), parameters[0]), near.shape());
}

struct Reverser {
  Embedding words;
  Var positions, sharpness;
  Linear query, key, value, output;
  explicit Reverser(Parameters& p)
      : words(p, "words", kWords, kDim),
        positions(p.get("positions", {kLength, kDim}, Init::uniform(1))),
        sharpness(p.get("sharpness", {1, 1}, Init::ones)),
        query(p, "query", kDim, kDim),
        key(p, "key", kDim, kDim),
        value(p, "value", kDim, kDim),
        output(p, "output", kDim, kWords) {}

  Attended operator()(std::span<const std::int32_t> ids) const {
    const Var x = add_rows(words(ids, {kBatch, kLength}), positions);
    return attend(query(x), key(x), value(x),
                  {.score = score::Block{.score = gaussian, .parameters = {sharpness}}, .want = {.top = 1}});
  }
};

int main() {
  Parameters parameters(1);
  const Reverser model(parameters);
  Adam adam(parameters, {.rate = 3e-3F});
  std::mt19937 random(1);
  for (int step = 0; step <= 400; ++step) {
    std::vector<std::int32_t> source(kBatch * kLength), target(source.size());
    for (auto& word : source) word = 1 + static_cast<std::int32_t>(random() % (kWords - 1));
    for (std::size_t i = 0; i < source.size(); ++i) target[i] = source[i - i % kLength + kLength - 1 - i % kLength];
    const Attended attended = model(source);
    const CrossEntropy cost = linear_cross_entropy(attended.context, model.output.weight.var, model.output.bias, target,
                                                   {.transposed = true});
    backward(cost.loss / cost.tokens);
    adam.step();
    if (step % 400 == 0) std::printf("step %3d: %2.0f%% correct\n", step, 100.0 * cost.correct / cost.tokens);
    for (std::int64_t t = 0; step == 400 && t < kLength; ++t) {
      std::printf("position %d attends to position %d\n", static_cast<int>(t), static_cast<int>(attended.top.index[t]));
    }
  }
}
