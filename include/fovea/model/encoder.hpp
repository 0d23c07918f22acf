// The interface of encoders: a sequence of vectors to a memory for the head.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/attention/attend.hpp"
#include "fovea/attention/pass.hpp"
#include "fovea/model/config.hpp"
#include "fovea/nn/parameters.hpp"
#include "fovea/text/tokens.hpp"
#include "fovea/var.hpp"

namespace FOVEA_API fovea {

/// A padded batch of vectors: what a source gives an encoder, and embedded tokens give a decoder.
struct Sequence {
  Var values{};                             // [batch, length, width]
  std::span<const std::int64_t> lengths{};  // [batch]; borrowed until the call that takes it returns, as in Tokens
};

/// The result of an encoder, which the head reads. It owns its values and borrows the spans: their arrays must live as
/// long as the memory is read. The backward pass reads none of them.
struct Memory {
  Var states{};                   // [batch, length, width]; rows past a length are never read
  Var values{};                   // the values of attention, whose keys are the states; empty: the states
  Var summary{};                  // [batch, width]: an RNN's last states; empty: the mean of the states
  std::vector<Var> last{};        // after keep_last_states(), [batch, width] per layer: an RNN's last states
  std::vector<Var> last_cells{};  // the same of an LSTM's cells
  std::vector<Var> attention{};   // when asked for: per layer, the self-attention [batch, heads, length, length]
  std::vector<TopWeights> attention_top{};  // the same where Pass::top is above 0
  // Borrowed:
  std::span<const std::int64_t> lengths{};  // [batch]
  std::span<const std::int32_t> copies{};   // [batch * length]: see Tokens::copies
  // Several targets may read one memory, as captions of one picture do: which row each target reads, and the lengths
  // for them. Empty: each its own. Only Decoder::decode() takes such a memory.
  std::span<const std::int32_t> rows{};          // [targets]
  std::span<const std::int64_t> rows_lengths{};  // [targets]

  /// x [batch, ..], computed from this memory, for each target.
  [[nodiscard]] Var for_targets(const Var& x) const;
  /// The lengths for each target.
  [[nodiscard]] std::span<const std::int64_t> target_lengths() const { return rows.empty() ? lengths : rows_lengths; }
};

/// Turns embedded tokens into a memory.
class Encoder {
 public:
  Encoder() = default;
  virtual ~Encoder() = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  /// `want_attention`: the weights of its self-attention too, if it has one.
  [[nodiscard]] virtual Memory encode(const Sequence& input, Pass& pass, bool want_attention = false) const = 0;
  [[nodiscard]] virtual std::int64_t width() const = 0;  // of the memory
  /// From now on an RNN's memories have Memory::last and last_cells, from which a decoder may start.
  virtual void keep_last_states() {}
};

/// An encoder of vectors of width `input`; weights NAME.…
[[nodiscard]] std::unique_ptr<Encoder> make_encoder(const EncoderConfig& config, std::int64_t input,
                                                    Parameters& parameters, const std::string& name = "encoder");

}  // namespace fovea
