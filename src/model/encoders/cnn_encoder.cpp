#include "model/encoders/cnn_encoder.hpp"

#include <numbers>

#include "fovea/ops.hpp"

namespace fovea {
namespace {

constexpr float kHalf = std::numbers::sqrt2_v<float> / 2;  // keeps the variance of a sum of two

}  // namespace

CnnEncoder::CnnEncoder(const CnnConfig& config, std::int64_t input, Parameters& p, const std::string& name)
    : embedding_(input),
      name_(name),
      positions_(p, name + ".positions",
                 {.kind = PositionEmbedding::Kind::learned, .width = embedding_, .max_length = config.max_positions}),
      in_(p, name + ".in", embedding_, config.dim),
      out_(p, name + ".out", config.dim, embedding_) {
  for (int i = 0; i < config.layers; ++i) {
    layers_.emplace_back(p, name + "." + std::to_string(i), config.dim,
                         TimeConvolutionOptions{.kernel = config.kernel});
  }
}

void CnnEncoder::note_layer(const Pass& pass, std::size_t layer, const Var& in, const Var& out) const {
  if (pass.trace == nullptr) return;
  const std::string name = name_ + "." + std::to_string(layer);
  pass.note(name, "input", in);
  pass.note(name, "convolution", out);
}

Memory CnnEncoder::encode(const Sequence& input, Pass& pass, bool) const {
  const Var e = pass.drop(positions_.add_to(input.values));
  pass.note(name_, "embedded", e);
  Var x = in_(e);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Var y = layers_[i](pass.drop(x), {.lengths = input.lengths});
    note_layer(pass, i, x, y);
    x = scale(add(x, y), kHalf);
  }
  // Keys are the outputs, values the outputs plus the embeddings (Gehring et al. 2017, eq. 2).
  const Var z = out_(x);
  pass.note(name_, "output", z);
  return {.states = z, .values = scale(add(z, e), kHalf), .lengths = input.lengths};
}

}  // namespace fovea
