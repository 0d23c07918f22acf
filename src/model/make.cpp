// The kinds of encoders and decoders: one line each.
#include "fovea/model/decoder.hpp"
#include "fovea/model/encoder.hpp"
#include "fovea/ops.hpp"
#include "model/decoders/cnn_decoder.hpp"
#include "model/decoders/rnn_decoder.hpp"
#include "model/encoders/cnn_encoder.hpp"
#include "model/encoders/no_encoder.hpp"
#include "model/encoders/parallel_cnn_encoder.hpp"
#include "model/encoders/rnn_encoder.hpp"
#include "model/transformer/transformer_decoder.hpp"
#include "model/transformer/transformer_encoder.hpp"

namespace fovea {

// Never defined: only what they return is asked for.
RnnEncoder* encoder_type(const RnnEncoderConfig&);
CnnEncoder* encoder_type(const CnnConfig&);
ParallelCnnEncoder* encoder_type(const ParallelCnnConfig&);
TransformerEncoder* encoder_type(const TransformerConfig&);
NoEncoder* encoder_type(const NoEncoderConfig&);

RnnDecoder* decoder_type(const RnnDecoderConfig&);
CnnDecoder* decoder_type(const CnnConfig&);
TransformerDecoder* decoder_type(const TransformerConfig&);

Var Memory::for_targets(const Var& x) const {
  return rows.empty() ? x : gather(x, rows);
}

std::unique_ptr<Encoder> make_encoder(const EncoderConfig& config, std::int64_t input, Parameters& parameters,
                                      const std::string& name) {
  return std::visit(
      [&](const auto& c) -> std::unique_ptr<Encoder> {
        using Type = std::remove_pointer_t<decltype(encoder_type(c))>;
        return std::make_unique<Type>(c, input, parameters, name);
      },
      config);
}

std::unique_ptr<Decoder> make_decoder(const DecoderConfig& config, const DecoderSizes& sizes, Parameters& parameters,
                                      const std::string& name) {
  return std::visit(
      [&](const auto& c) -> std::unique_ptr<Decoder> {
        using Type = std::remove_pointer_t<decltype(decoder_type(c))>;
        return std::make_unique<Type>(c, sizes, parameters, name);
      },
      config);
}

}  // namespace fovea
