// What every decoder is: it reads the memory while it writes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "model/config.hpp"
#include "model/encoder.hpp"

namespace fovea {

/// What a teacher-forced run gives.
struct Decoded {
  Var states;                     // [batch, length, width]
  std::vector<Tensor> attention;  // when wanted: per layer [batch, heads, length, source length]
};

/// The running part of a decoder; a Stepper without the output layer. See Stepper for what a row is.
class DecoderState {
 public:
  DecoderState() = default;
  virtual ~DecoderState() = default;
  DecoderState(const DecoderState&) = delete;
  DecoderState& operator=(const DecoderState&) = delete;
  /// Feeds each row the embedding of its last token, [rows, embedding]; gives the states [rows, width].
  [[nodiscard]] virtual Tensor step(const Tensor& embedded) = 0;
  virtual void keep(std::span<const std::int32_t> rows) = 0;
  /// Where the last step looked, per layer [rows, heads, source length].
  [[nodiscard]] virtual std::span<const Tensor> attention() const { return {}; }
};

class Decoder {
 public:
  Decoder() = default;
  virtual ~Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  /// All positions at once: `embedded` [batch, length, embedding] are the target's tokens, shifted by one.
  [[nodiscard]] virtual Decoded decode(const Memory& memory, const Var& embedded, const Tokens& target, Pass& pass,
                                       bool want_attention) const = 0;
  /// The memory is kept alive by the state; its lengths are copied.
  [[nodiscard]] virtual std::unique_ptr<DecoderState> start(const Memory& memory, bool want_attention) const = 0;
  [[nodiscard]] virtual std::int64_t width() const = 0;
};

[[nodiscard]] std::unique_ptr<Decoder> make_decoder(const ModelConfig& config, std::int64_t memory_width,
                                                    Parameters& parameters);

}  // namespace fovea
