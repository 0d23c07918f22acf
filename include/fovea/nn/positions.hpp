// The position of a token, added to its embedding.
#pragma once

#include <string>

#include "fovea/nn/parameters.hpp"
#include "fovea/var.hpp"

namespace FOVEA_API fovea {

/// sin and cos of position / 10000^(2i/d) (Vaswani et al. 2017, section 3.5): the first half of the features the sines,
/// the second the cosines. [length, width] for positions first to first + length - 1.
[[nodiscard]] Tensor sinusoidal_positions(std::int64_t first, std::int64_t length, std::int64_t width);
/// The same with the exponent i / (half - 1) for 2i / d, so that the last wave is 10000 times as long as the first
/// (Tensor2Tensor's timing signal).
[[nodiscard]] Tensor timing_signal(std::int64_t first, std::int64_t length, std::int64_t width);

/// Learned or sinusoidal positions, or none.
class PositionEmbedding {
 public:
  /// Which positions are added.
  enum class Kind { none, sinusoidal, timing_signal, learned };
  /// Sizes, and how positions are counted and scaled.
  struct Options {
    Kind kind = Kind::none;       // which are added
    std::int64_t width = 0;       // of the embeddings
    std::int64_t max_length = 0;  // rows of the table of learned ones
    std::int64_t first = 0;       // the first position of sinusoidal ones
    bool scaled = true;           // multiply learned ones by the root of the width
  };

  PositionEmbedding() = default;
  /// The weight NAME, [max_length, width], if they are learned.
  PositionEmbedding(Parameters& p, const std::string& name, const Options& options);

  /// x [batch, length, width] with the positions first to first + length - 1 added. Throws Error when a learned
  /// table is too short.
  [[nodiscard]] Var add_to(const Var& x, std::int64_t first = 0) const;

 private:
  Options options_;
  Var table_;                // [max_length, width], learned
  mutable Tensor computed_;  // [as far as needed, width], sinusoidal; a model belongs to one thread at a time
};

}  // namespace fovea
