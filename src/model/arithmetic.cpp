#include "model/arithmetic.hpp"

#include <numeric>

namespace fovea {
namespace {

double gates_of(Cell cell) {
  return cell == Cell::gru ? 3 : 4;
}

// s: source tokens; e: width of the embeddings.
double encoder_flops(const TransformerConfig& c, double s, double) {
  const double d = c.dim;
  return c.layers * (2 * s * (4 * d * d + 2 * d * c.ffn) + 4 * s * s * d);
}
double encoder_flops(const CnnConfig& c, double s, double e) {
  const double d = c.dim;
  return 2 * s * (2 * e * d) + c.layers * 2 * s * (c.kernel * d * 2 * d);
}
double encoder_flops(const ParallelCnnConfig& c, double s, double e) {
  return 2 * s * e * c.dim * std::accumulate(c.kernels.begin(), c.kernels.end(), 0.0);
}
double encoder_flops(const RnnEncoderConfig& c, double s, double e) {
  const double d = c.dim;
  const double directions = c.bidirectional ? 2 : 1;
  double total = 0;
  double in = e;
  for (int i = 0; i < c.layers; ++i) {
    total += directions * 2 * s * gates_of(c.cell) * d * (in + d);
    in = directions * d;
  }
  return total;
}

double encoder_flops(const NoEncoderConfig&, double, double) {
  return 0;
}

double memory_width(const NoEncoderConfig& c, double) {
  return c.dim;
}
double memory_width(const TransformerConfig& c, double) {
  return c.dim;
}
double memory_width(const CnnConfig&, double e) {
  return e;
}
double memory_width(const ParallelCnnConfig& c, double) {
  return c.dim * static_cast<double>(c.kernels.size());
}
double memory_width(const RnnEncoderConfig& c, double) {
  return c.dim * (c.bidirectional ? 2 : 1);
}

double rnn_attention_flops(const RnnDecoderConfig& c, double s, double t, double m) {
  const double d = c.dim;
  const double sum = 2 * t * s * m;
  switch (c.attention) {
    case RnnAttention::none:
      return 0;
    case RnnAttention::additive:
    case RnnAttention::concat: {
      const double a = c.attention_dim > 0 ? c.attention_dim : d;
      return sum + 2 * s * m * a + 2 * t * d * a + 3 * t * s * a;  // keys once, a query and a sum of a per pair
    }
    case RnnAttention::general:
    case RnnAttention::dot:
    case RnnAttention::scaled_dot:
    case RnnAttention::cosine:
      return sum + 2 * s * m * d + 2 * t * s * d;
    case RnnAttention::location:
      return sum + 2 * t * d * s;
  }
  return sum;
}

// s, t: source and target tokens; m: width of the memory; e: of the target embeddings.
double self_flops(const TransformerConfig& c, double t) {
  const double d = c.dim;
  switch (c.decoder_self) {
    case DecoderSelf::attention:
      return 2 * t * 4 * d * d + 2 * t * t * d;
    case DecoderSelf::ssru:
      return 2 * t * 2 * d * d;
    case DecoderSelf::average:
      return 2 * t * (2 * d * c.ffn + 4 * d * d);
  }
  return 0;
}
double decoder_flops(const TransformerConfig& c, double s, double t, double m, double) {
  const double d = c.dim;
  return c.layers * (self_flops(c, t) + 2 * t * (2 * d * d + 2 * d * c.ffn) + 2 * s * 2 * m * d + 4 * t * s * d);
}
double decoder_flops(const CnnConfig& c, double s, double t, double, double e) {
  const double d = c.dim;
  return 2 * t * 2 * e * d + c.layers * (2 * t * (c.kernel * d * 2 * d + 2 * d * e) + 4 * t * s * e);
}
double decoder_flops(const RnnDecoderConfig& c, double s, double t, double m, double e) {
  const double d = c.dim;
  const double gates = gates_of(c.cell);
  double total = rnn_attention_flops(c, s, t, m);
  // What enters the first cell: the embedding, and the context (Bahdanau, plain) or the fed-back state (Luong).
  const bool plain = c.attention == RnnAttention::none;  // one context: its products are made once
  double in = e + (plain ? 0 : c.form == RnnForm::bahdanau || c.form == RnnForm::gated ? m : c.input_feeding ? d : 0);
  if (plain) total += 2 * m * (gates * d + d);
  for (int i = 0; i < c.layers; ++i) {
    total += 2 * t * gates * d * (in + d);
    in = d;
  }
  if (c.form == RnnForm::conditional) total += 2 * t * gates * d * (m + d);  // the second cell
  // The layer before the output.
  const double out = c.readout_dim > 0 ? c.readout_dim : d;
  return total + 2 * t * out * (plain ? d + e : c.form == RnnForm::luong ? d + m : d + m + e);
}

}  // namespace

double forward_flops(const ModelConfig& config, std::int64_t source, std::int64_t target) {
  const auto s = static_cast<double>(source);
  const auto t = static_cast<double>(target);
  const GeneratorConfig& g = config.generator();
  const double source_width = config.tokens().embedding;
  const double memory = std::visit([&](const auto& c) { return memory_width(c, source_width); }, config.encoder);
  const auto* rnn = std::get_if<RnnDecoderConfig>(&g.decoder);
  const double width = rnn != nullptr && rnn->readout_dim > 0 ? rnn->readout_dim : dim_of(g.decoder);
  const double output = g.tie == Tie::none ? width : g.embedding;
  return std::visit([&](const auto& c) { return encoder_flops(c, s, source_width); }, config.encoder) +
         std::visit([&](const auto& c) { return decoder_flops(c, s, t, memory, g.embedding); }, g.decoder) +
         2 * t * output * g.vocabulary;
}

}  // namespace fovea
