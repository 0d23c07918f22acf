// The interface of decoders: they write one token after the other, and may attend to a memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/model/config.hpp"
#include "fovea/model/encoder.hpp"

namespace FOVEA_API fovea {

/// Which attention weights a run reports.
struct DecoderAttention {
  bool cross = false;  // to the memory
  bool self = false;   // to the target's own earlier tokens (a transformer has it)
  bool copy = false;   // to the memory, of the last layer's first head, which copying and coverage use
};

/// The result of a teacher-forced run. A gradient may flow into the weights.
struct Decoded {
  Var states{};                                     // [batch, length, width]
  std::vector<Var> cross{};                         // when asked for: per layer [batch, heads, length, source length]
  std::vector<Var> self{};                          // when asked for: per layer [batch, heads, length, length]
  std::vector<TopWeights> cross_top{}, self_top{};  // the same where Pass::top is above 0
  Var copy{};                                       // when asked for: [batch, length, source length]
  Tensor read{};  // of hard attention, with cross: [batch, length, source length], 1 where it read
};

/// The running part of a decoder, without embeddings and output layer. See Stepper for what a row is.
class DecoderState {
 public:
  DecoderState() = default;
  virtual ~DecoderState() = default;
  DecoderState(const DecoderState&) = delete;
  DecoderState& operator=(const DecoderState&) = delete;
  /// Feeds each row the embedding of its last token, [rows, embedding]; gives the states [rows, width].
  [[nodiscard]] virtual Tensor step(const Tensor& embedded) = 0;
  /// Row i continues row rows[i].
  virtual void keep(std::span<const std::int32_t> rows) = 0;
  /// The last step's weights over the memory, per layer [rows, heads, source length], when asked for.
  [[nodiscard]] virtual std::span<const Tensor> attention() const { return {}; }
};

/// Writes target states from embedded target tokens and, unless it is a language model, a memory.
class Decoder {
 public:
  Decoder() = default;
  virtual ~Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  /// All positions at once: `target` are the embedded target tokens, shifted by one. `memory` is null for a decoder
  /// that was made without one.
  [[nodiscard]] virtual Decoded decode(const Memory* memory, const Sequence& target, Pass& pass,
                                       const DecoderAttention& want = {}) const = 0;
  /// `rows` outputs at their start, one per sentence of the memory. The state does not borrow from the memory.
  /// `interventions`, or null, must outlive the state.
  [[nodiscard]] virtual std::unique_ptr<DecoderState> start(const Memory* memory, std::int64_t rows,
                                                            bool want_attention = false,
                                                            const Interventions* interventions = nullptr) const = 0;
  /// Width of the states.
  [[nodiscard]] virtual std::int64_t width() const = 0;
};

/// Widths of a decoder's inputs.
struct DecoderSizes {
  std::int64_t embedding = 0;  // width of the embedded target tokens
  std::int64_t memory = 0;     // width of the memory; 0 for a language model
};

/// Weights NAME.… Throws UsageError for an RNN decoder with attention and without a memory.
[[nodiscard]] std::unique_ptr<Decoder> make_decoder(const DecoderConfig& config, const DecoderSizes& sizes,
                                                    Parameters& parameters, const std::string& name = "decoder");

}  // namespace fovea
