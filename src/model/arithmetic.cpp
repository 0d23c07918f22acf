#include "model/arithmetic.hpp"

namespace fovea {
namespace {

double encoder_flops(const ModelConfig& c, double s) {
  const double d = c.dim;
  const double e = c.embedding_width();
  double total = 0;
  switch (c.encoder) {
    case Arch::transformer:
      return c.encoder_layers() * (2 * s * (4 * d * d + 2 * d * c.ffn) + 4 * s * s * d);
    case Arch::cnn:
      return 2 * s * (2 * e * d) + c.encoder_layers() * 2 * s * (c.kernel * d * 2 * d);
    case Arch::rnn: {
      const double gates = c.cell == Cell::gru ? 3 : 4;
      const double directions = c.bidirectional ? 2 : 1;
      double in = e;
      for (int i = 0; i < c.encoder_layers(); ++i) {
        total += directions * 2 * s * gates * d * (in + d);
        in = directions * d;
      }
      return total;
    }
  }
  return total;
}

double memory_width(const ModelConfig& c) {
  if (c.encoder == Arch::rnn) return c.dim * (c.bidirectional ? 2 : 1);
  return c.encoder == Arch::cnn ? c.embedding_width() : c.dim;
}

double rnn_attention_flops(const ModelConfig& c, double s, double t, double m) {
  const double d = c.dim;
  const double sum = 2 * t * s * m;
  switch (c.attention) {
    case RnnAttention::none:
      return 0;
    case RnnAttention::additive:
    case RnnAttention::concat:
      return sum + 2 * s * m * d + 2 * t * d * d + 3 * t * s * d;  // keys once, a query and a sum of h per pair
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

double decoder_flops(const ModelConfig& c, double s, double t) {
  const double d = c.dim;
  const double e = c.embedding_width();
  const double m = memory_width(c);
  const int layers = c.decoder_layer_count();
  switch (c.decoder) {
    case Arch::transformer:
      return layers * (2 * t * (6 * d * d + 2 * d * c.ffn) + 2 * s * 2 * m * d + 2 * t * t * d + 4 * t * s * d);
    case Arch::cnn:
      return 2 * t * 2 * e * d + layers * (2 * t * (c.kernel * d * 2 * d + 2 * d * e) + 4 * t * s * e);
    case Arch::rnn: {
      const double gates = c.cell == Cell::gru ? 3 : 4;
      double total = rnn_attention_flops(c, s, t, m);
      // What enters the first cell: the embedding, and the context (Bahdanau, plain) or the fed-back state (Luong).
      const bool plain = c.attention == RnnAttention::none;  // one context: its products are made once
      double in = e + (plain ? 0 : c.form == RnnForm::bahdanau ? m : c.input_feeding ? d : 0);
      if (plain) total += 2 * m * (gates * d + d);
      for (int i = 0; i < layers; ++i) {
        total += 2 * t * gates * d * (in + d);
        in = d;
      }
      if (c.form == RnnForm::conditional) total += 2 * t * gates * d * (m + d);  // the second cell
      // The layer before the output.
      return total + 2 * t * d * (plain ? d + e : c.form == RnnForm::luong ? d + m : d + m + e);
    }
  }
  return 0;
}

}  // namespace

double forward_flops(const ModelConfig& config, std::int64_t source, std::int64_t target) {
  const auto s = static_cast<double>(source);
  const auto t = static_cast<double>(target);
  const double width = config.tie == Tie::none ? config.dim : config.embedding_width();
  return encoder_flops(config, s) + decoder_flops(config, s, t) + 2 * t * width * config.target_vocabulary;
}

}  // namespace fovea
