#include "model/cnn_encoder.hpp"

#include <numbers>

#include "fovea/ops.hpp"

namespace fovea {
namespace {

constexpr float kHalf = std::numbers::sqrt2_v<float> / 2;  // keeps the variance of a sum of two

}  // namespace

CnnEncoder::CnnEncoder(const ModelConfig& config, Parameters& p)
    : embedding_(config.embedding_width()),
      positions_(p, "encoder.positions", PositionEmbedding::Kind::learned, config.max_positions, embedding_),
      in_(p, "encoder.in", embedding_, config.dim),
      out_(p, "encoder.out", config.dim, embedding_) {
  for (int i = 0; i < config.encoder_layers(); ++i) {
    layers_.emplace_back(p, "encoder." + std::to_string(i), config.kernel, config.dim);
  }
}

Memory CnnEncoder::encode(const Var& embedded, const Tokens& source, Pass& pass) const {
  const Var e = pass.drop(positions_.add_to(embedded));
  Var x = in_(e);
  for (const GatedConvolution& layer : layers_) {
    const Var y = layer(pass.drop(x), {.lengths = source.lengths});
    x = scale(add(x, y), kHalf);
  }
  // Keys are the outputs, values the outputs with the embeddings: what is where, and what it is.
  const Var z = out_(x);
  return {.states = z, .values = scale(add(z, e), kHalf), .lengths = source.lengths};
}

}  // namespace fovea
