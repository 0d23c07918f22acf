// The work behind linear_cross_entropy: a block of rows by a slice of the vocabulary at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/arena.hpp"
#include "fovea/tensor.hpp"
#include "kernels/packed_matrix.hpp"

namespace fovea {

template <class T>
using ArenaVector = std::vector<T, ArenaAllocator<T>>;

/// The output layer of a model, and the results that are wanted of it.
struct OutputLayer {
  std::int64_t rows = 0, width = 0, vocabulary = 0;
  const float* x = nullptr;  // [rows, width], `x_stride` apart
  std::int64_t x_stride = 0;
  const float* weights = nullptr;         // [vocabulary, width], or transposed
  bool transposed = false;                // [width, vocabulary]
  const float* bias = nullptr;            // [vocabulary] or null
  std::span<const std::int32_t> targets;  // [rows]
  float label_smoothing = 0;
  float r_drop = 0;  // more than 0: rows 2 i and 2 i + 1 are the same token under two dropout masks
  // A mixture: p = exp(log_share) softmax(z)[target] + exp(log_other); both [rows] or null. A target may then be at or
  // past the vocabulary: its softmax is 0.
  const float* log_share = nullptr;
  const float* log_other = nullptr;
  // Gradients of the loss; all null when none is wanted.
  float* dx = nullptr;         // [rows, width]
  float* dweights = nullptr;   // as weights
  float* dbias = nullptr;      // [vocabulary]
  float* generated = nullptr;  // [rows]: of a mixture, the softmax's part of p, from 0 to 1; may be null
};

struct OutputLoss {
  double loss = 0;           // summed over the rows, with smoothing
  double nll = 0;            // without
  std::int64_t correct = 0;  // rows where no logit is larger than the target's
};

/// Computes the loss and the gradients, which are overwritten. The logits of all rows never exist at once: the
/// gradient of a block follows from its logits, and its products are made while a slice of it is in the cache.
OutputLoss output_loss(const OutputLayer& layer);

}  // namespace fovea
