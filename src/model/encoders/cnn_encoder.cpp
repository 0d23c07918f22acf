#include "model/encoders/cnn_encoder.hpp"

#include <numbers>

#include "fovea/ops.hpp"

namespace fovea {
namespace {

constexpr float kHalf = std::numbers::sqrt2_v<float> / 2;  // keeps the variance of a sum of two

}  // namespace

CnnEncoder::CnnEncoder(const CnnConfig& config, std::int64_t input, Parameters& p, const std::string& name)
    : embedding_(input),
      positions_(p, name + ".positions", PositionEmbedding::Kind::learned, config.max_positions, embedding_),
      in_(p, name + ".in", embedding_, config.dim),
      out_(p, name + ".out", config.dim, embedding_) {
  for (int i = 0; i < config.layers; ++i) {
    layers_.emplace_back(p, name + "." + std::to_string(i), config.kernel, config.dim);
  }
}

Memory CnnEncoder::encode(const Sequence& input, Pass& pass, bool) const {
  const Var e = pass.drop(positions_.add_to(input.values));
  Var x = in_(e);
  for (const GatedConvolution& layer : layers_) {
    const Var y = layer(pass.drop(x), {.lengths = input.lengths});
    x = scale(add(x, y), kHalf);
  }
  // Keys are the outputs, values the outputs with the embeddings: what is where, and what it is.
  const Var z = out_(x);
  return {.states = z, .values = scale(add(z, e), kHalf), .lengths = input.lengths};
}

}  // namespace fovea
