// What every encoder is: tokens in, a memory for the decoder out.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/arena.hpp"
#include "fovea/var.hpp"
#include "model/config.hpp"
#include "nn/parameters.hpp"
#include "nn/pass.hpp"

namespace fovea {

/// A padded batch of token ids. The arrays belong to the caller and outlive the pass, its backward included.
struct Tokens {
  std::span<const std::int32_t> ids;      // [batch * length], row by row; 0 is padding
  std::span<const std::int64_t> lengths;  // [batch], real tokens of each row
  std::int64_t batch = 0;
  std::int64_t length = 0;
};

/// What the encoder leaves for the decoder to look at.
struct Memory {
  Var states;                                  // [batch, length, width]; rows past a sentence's length are never read
  Var values = {};                             // what is read where a decoder looks; empty: the states themselves
  Var summary = {};                            // [batch, width]: an RNN's last states; empty: the mean of the states
  std::span<const std::int64_t> lengths = {};  // [batch]
};

class Encoder {
 public:
  Encoder() = default;
  virtual ~Encoder() = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  /// `embedded`: [batch, length, embedding], scaled but without positions.
  [[nodiscard]] virtual Memory encode(const Var& embedded, const Tokens& source, Pass& pass) const = 0;
  [[nodiscard]] virtual std::int64_t width() const = 0;
};

[[nodiscard]] std::unique_ptr<Encoder> make_encoder(const ModelConfig& config, Parameters& parameters);

}  // namespace fovea
