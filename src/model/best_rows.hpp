// The best tokens of rows of logits that are computed some columns at a time and not stored.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "fovea/model/stepper.hpp"
#include "fovea/packed_weight.hpp"
#include "kernels/rows.hpp"

namespace fovea {

/// Number of columns of one maximum and sum of exponentials. Those of a row are combined in the order of its columns,
/// so that its bytes depend neither on the other rows nor on threads.
constexpr std::int64_t kPeakColumns = 256;

/// The peak of a whole row from those of its columns.
[[nodiscard]] kernels::Peak joined(const kernels::Peak* peaks, std::int64_t count);
/// The same of a stored row: x[n].
[[nodiscard]] kernels::Peak peak_of_row(const float* x, std::int64_t n);

/// The output layer and the choice of its best tokens in one: every logit is read once, while it is in the cache.
class BestRows {
 public:
  /// Of states [rows, in] times the weight, plus a bias.
  void choose(std::int64_t rows, const float* states, const PackedWeight& weight, const float* bias,
              const BestRequest& request, BestTokens& best);

 private:
  void visit(int part, std::int64_t first, std::int64_t n, const float* values, std::int64_t stride);
  // Adds the best of columns first to first + n of a row to `held`; n is at most kPeakColumns.
  void keep_best(std::uint64_t* held, std::atomic_ref<std::uint32_t> floor, std::int64_t first, std::int64_t n,
                 const float* x) const;

  BestRequest request_;
  std::int64_t rows_ = 0, blocks_ = 0;
  std::vector<kernels::Peak> peaks_;  // [rows, blocks]
  std::vector<float> ends_;           // [rows]
  // A token and its score as one number: larger is better, 0 is no token.
  std::vector<std::uint64_t> held_;    // [parts, rows, request.count], best first
  std::vector<std::uint32_t> floors_;  // [rows]: a score that request.count tokens of some part reach
};

}  // namespace fovea
