#include "autograd/cross_entropy/output_layer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fovea/threads.hpp"
#include "kernels/cross_entropy.hpp"
#include "kernels/gemm_kernels.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"
#include "kernels/product_time.hpp"

namespace fovea {
namespace {

using kernels::GemmBlock;
using kernels::PackedMatrix;
using kernels::Trans;

constexpr std::int64_t kRows = 256;             // of a block
constexpr std::int64_t kSlice = 256;            // of the vocabulary: with kRows a quarter of a megabyte of logits
constexpr std::int64_t kPitch = kSlice + 16;    // a pitch that keeps rows of logits out of the same cache sets
constexpr std::int64_t kTiles = 4;              // rows of logits, in tiles, that are made before exp comes to them
constexpr std::int64_t kDepth = 256;            // of a product, so that a panel stays in the first-level cache
constexpr std::int64_t kBlockValues = 6 << 20;  // of a block over the whole vocabulary: 24 MB
constexpr double kLeast = -87;                  // log of the least probability a mixture gives
constexpr std::int64_t kGroups = 16;            // of slices; not by threads, or bytes would depend on their number

// One block of rows after the other; see the formulas in linear_cross_entropy.cpp. Two rounds on all threads per block:
// logits and their exp, slice by slice; then, with each row's sum known, gradients and their products.
class Blocks {
 public:
  explicit Blocks(const OutputLayer& layer)
      : l_(layer),
        gemm_(*kernels::active().gemm),
        learns_(layer.dx != nullptr),
        slices_((layer.vocabulary + kSlice - 1) / kSlice),
        pairs_(layer.r_drop > 0),
        // Even, so that no pair is torn apart.
        most_rows_(std::min(layer.rows, std::clamp(kBlockValues / layer.vocabulary, std::int64_t{64}, kRows) / 2 * 2)),
        // Gradients of x are gathered per group of slices, then added up in order.
        groups_(std::min(slices_, kGroups)),
        forward_(layer.transposed ? Trans::no : Trans::yes, layer.width, layer.vocabulary, layer.weights,
                 layer.transposed ? layer.vocabulary : layer.width, Precision::fp32),
        logits_(Tensor::empty({learns_ ? slices_ : threads(), most_rows_, kPitch})),
        max_(Tensor::empty({slices_, most_rows_})),
        sum_(Tensor::empty({slices_, most_rows_})),
        total_(Tensor::empty({slices_, most_rows_})),
        target_logit_(Tensor::empty({most_rows_})) {
    lse_.resize(static_cast<std::size_t>(most_rows_));
    if (mixes()) hit_.resize(static_cast<std::size_t>(most_rows_));
    if (pairs_) {
      apart_ = Tensor::empty({learns_ ? slices_ : threads(), most_rows_ / 2, kPitch});
      weighted_ = Tensor::empty({slices_, most_rows_});
      terms_.resize(static_cast<std::size_t>(most_rows_ / 2));
    }
    if (!learns_) return;
    back_ = PackedMatrix(layer.transposed ? Trans::yes : Trans::no, layer.vocabulary, layer.width, layer.weights,
                         layer.transposed ? layer.vocabulary : layer.width, Precision::fp32);
    dx_parts_ = Tensor::empty({groups_, most_rows_, layer.width});
    const std::int64_t panels = (layer.width + gemm_.nr - 1) / gemm_.nr;
    if (!layer.transposed) x_panels_ = Tensor::empty({panels, most_rows_, gemm_.nr});
  }

  OutputLoss run() {
    for (first_ = 0; first_ < l_.rows; first_ += rows_) {
      rows_ = std::min(most_rows_, l_.rows - first_);
      parallel_for(slices_, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t s = begin; s < end; ++s) exp_of_logits(s);
      });
      put_together();
      if (learns_) learn();
    }
    return result_;
  }

 private:
  [[nodiscard]] bool mixes() const { return l_.log_share != nullptr; }
  [[nodiscard]] std::int64_t width_of(std::int64_t slice) const {
    return std::min(kSlice, l_.vocabulary - slice * kSlice);
  }
  [[nodiscard]] float* logits_of(std::int64_t slice) const {
    return logits_.data() + (learns_ ? slice : thread_index()) * most_rows_ * kPitch;
  }
  [[nodiscard]] float* apart_of(std::int64_t slice) const {
    return apart_.data() + (learns_ ? slice : thread_index()) * (most_rows_ / 2) * kPitch;
  }
  [[nodiscard]] const float* x() const { return l_.x + first_ * l_.x_stride; }
  [[nodiscard]] std::int64_t target(std::int64_t row) const {
    return l_.targets[static_cast<std::size_t>(first_ + row)];
  }

  // Logits of a slice, x W' + b, and of each row their exp relative to the slice's largest. A few rows at a time, so
  // that they are in the first-level cache when exp comes to them.
  void exp_of_logits(std::int64_t slice) {
    const auto& kernels = *kernels::active().cross_entropy;
    const std::int64_t width = width_of(slice);
    const std::int64_t step = kTiles * gemm_.mr;
    for (std::int64_t i = 0; i < rows_; i += step) {
      const std::int64_t end = std::min(i + step, rows_);
      float* z = logits_of(slice) + i * kPitch;
      logits(slice, i, end - i, z);
      for (std::int64_t row = i; row < end; ++row, z += kPitch) {
        const std::int64_t at = target(row) - slice * kSlice;
        if (at >= 0 && at < width) target_logit_.data()[row] = z[at];
        const std::int64_t s = slice * most_rows_ + row;
        if (!pairs_) {
          kernels.exp_slice(z, width, max_.data() + s, sum_.data() + s, total_.data() + s);
        } else if (row % 2 != 0) {
          kernels.exp_pair(z - kPitch, z, width, max_.data() + s - 1, sum_.data() + s - 1, total_.data() + s - 1,
                           apart_of(slice) + row / 2 * kPitch, weighted_.data() + s - 1);
        }
      }
    }
  }

  void multiply(const GemmBlock& block) const {
    const kernels::TimedProduct timed;
    gemm_.block(block);
  }

  void logits(std::int64_t slice, std::int64_t row, std::int64_t rows, float* z) const {
    const std::int64_t nr = gemm_.nr;
    for (std::int64_t p = 0; p < l_.width; p += kDepth) {
      GemmBlock block;
      block.m = rows;
      block.n = width_of(slice);
      block.k = std::min(kDepth, l_.width - p);
      block.a = x() + row * l_.x_stride + p;
      block.a_row = l_.x_stride;
      block.b = forward_.panels() + slice * kSlice * l_.width + p * nr;
      block.b_k = nr;
      block.b_panel = nr * l_.width;
      block.b_padded = true;
      if (p == 0 && l_.bias != nullptr) block.bias = l_.bias + slice * kSlice;
      block.beta = p == 0 ? 0.0F : 1.0F;
      block.c = z;
      block.c_row = kPitch;
      multiply(block);
    }
  }

  // The loss of each row from its slices. max_ becomes what turns exp into probabilities.
  void put_together() {
    const auto& math = *kernels::active().math;
    const float e = l_.label_smoothing;
    for (std::int64_t i = 0; i < rows_; ++i) {
      float largest = max_.data()[i];
      for (std::int64_t s = 1; s < slices_; ++s) largest = std::max(largest, max_.data()[s * most_rows_ + i]);
      double logits = 0;
      for (std::int64_t s = 0; s < slices_; ++s) {
        logits += total_.data()[s * most_rows_ + i];
        max_.data()[s * most_rows_ + i] -= largest;
      }
      lse_[static_cast<std::size_t>(i)] = largest;
      if (mixes()) {
        result_.loss -= e * logits / static_cast<double>(l_.vocabulary);
        continue;
      }
      const float wanted = target_logit_.data()[i];
      const double rest = -(1 - static_cast<double>(e)) * wanted - e * logits / static_cast<double>(l_.vocabulary);
      result_.loss += largest + rest;
      result_.nll += static_cast<double>(largest) - wanted;
      result_.correct += wanted >= largest ? 1 : 0;
    }
    for (std::int64_t s = 0; s < slices_; ++s) {
      float* factor = max_.data() + s * most_rows_;
      math.exp(factor, factor, static_cast<std::size_t>(rows_));
    }
    for (std::int64_t i = 0; i < rows_; ++i) {
      double sum = 0;
      for (std::int64_t s = 0; s < slices_; ++s) {
        sum += static_cast<double>(max_.data()[s * most_rows_ + i]) * sum_.data()[s * most_rows_ + i];
      }
      const double log_sum = std::log(sum);
      const double largest = lse_[static_cast<std::size_t>(i)];
      lse_[static_cast<std::size_t>(i)] += log_sum;
      if (!mixes()) {
        result_.loss += log_sum;
        result_.nll += log_sum;
      }
      const double scale = (mixes() ? mix(i, largest) : 1.0) / sum;
      for (std::int64_t s = 0; s < slices_; ++s) max_.data()[s * most_rows_ + i] *= static_cast<float>(scale);
    }
    if (pairs_) pull_together();
  }

  // The loss of row i as a mixture, from the log of its sum. Gives what the softmax counts for in the gradient of the
  // logits: (1 - e) r + e, where r is its part of the target's probability.
  double mix(std::int64_t i, double largest) {
    const double e = l_.label_smoothing;
    const double lse = lse_[static_cast<std::size_t>(i)];
    const double share = l_.log_share[first_ + i];
    const double other = l_.log_other[first_ + i];
    const bool known = target(i) < l_.vocabulary;
    const double generated = known ? share + target_logit_.data()[i] - lse : -HUGE_VAL;
    const double most = std::max(generated, other);
    // Both impossible: as improbable as the smallest number, so that the loss stays one.
    const double log_p =
        std::isinf(most) ? kLeast : most + std::log(std::exp(generated - most) + std::exp(other - most));
    const double part = std::isinf(generated) ? 0.0 : std::exp(generated - log_p);
    result_.loss += -(1 - e) * log_p + e * lse;
    result_.nll -= log_p;
    result_.correct += log_p >= share + largest - lse ? 1 : 0;
    hit_[static_cast<std::size_t>(i)] = static_cast<float>((1 - e) * part);
    if (l_.generated != nullptr) l_.generated[first_ + i] = static_cast<float>(part);
    return (1 - e) * part + e;
  }

  // KL(p, q) = sum p_j log p_j/q_j, with log p_j/q_j = a_j - b_j + lse(b) - lse(a): what exp_pair weighted, and an
  // offset.
  void pull_together() {
    const double weight = l_.r_drop / 2;
    for (std::int64_t i = 0; i < rows_; i += 2) {
      const auto at = static_cast<std::size_t>(i);
      const double offset = lse_[at + 1] - lse_[at];
      double kl_a = offset;
      double kl_b = -offset;
      for (std::int64_t s = 0; s < slices_; ++s) {
        const std::int64_t k = s * most_rows_ + i;
        kl_a += static_cast<double>(max_.data()[k]) * weighted_.data()[k];
        kl_b -= static_cast<double>(max_.data()[k + 1]) * weighted_.data()[k + 1];
      }
      result_.loss += weight * (kl_a + kl_b);
      terms_[at / 2] = {.weight = static_cast<float>(weight),
                        .offset = static_cast<float>(offset),
                        .kl_a = static_cast<float>(kl_a),
                        .kl_b = static_cast<float>(kl_b)};
    }
  }

  void learn() {
    if (!l_.transposed) gemm_.pack_b(rows_, l_.width, x(), l_.x_stride, x_panels_.data());
    parallel_for(groups_, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t g = begin; g < end; ++g) {
        const std::int64_t from = g * slices_ / groups_;
        const std::int64_t to = (g + 1) * slices_ / groups_;
        for (std::int64_t s = from; s < to; ++s) {
          gradient_of_logits(s);
          gradient_of_weights(s);
          gradient_of_x(s, g, s == from, s + 1 < to);
        }
      }
    });
    parallel_for(rows_, 64, [&](std::int64_t begin, std::int64_t end) {
      const auto& math = *kernels::active().math;
      const auto count = static_cast<std::size_t>((end - begin) * l_.width);
      float* to = l_.dx + (first_ + begin) * l_.width;
      const float* part = dx_parts_.data() + begin * l_.width;
      std::memcpy(to, part, count * sizeof(float));
      for (std::int64_t g = 1; g < groups_; ++g) math.add_in_place(part + g * most_rows_ * l_.width, to, count);
    });
  }

  // dz = softmax(z) - (1 - e) onehot - e / V
  void gradient_of_logits(std::int64_t slice) {
    float* z = logits_of(slice);
    const float spread = l_.label_smoothing / static_cast<float>(l_.vocabulary);
    float* db = l_.dbias == nullptr ? nullptr : l_.dbias + slice * kSlice;
    if (db != nullptr && first_ == 0) std::fill_n(db, width_of(slice), 0.0F);
    const auto& kernels = *kernels::active().cross_entropy;
    const float* factor = max_.data() + slice * most_rows_;
    if (pairs_) {
      kernels.gradient_pairs(rows_ / 2, width_of(slice), z, kPitch, factor, spread, terms_.data(), apart_of(slice),
                             kPitch, db);
    } else {
      kernels.gradient_rows(rows_, width_of(slice), z, kPitch, factor, spread, db);
    }
    for (std::int64_t i = 0; i < rows_; ++i) {
      const std::int64_t at = target(i) - slice * kSlice;
      if (at < 0 || at >= kSlice) continue;
      if (at >= width_of(slice)) continue;  // past the vocabulary
      const float hit = mixes() ? hit_[static_cast<std::size_t>(i)] : 1 - l_.label_smoothing;
      z[i * kPitch + at] -= hit;
      if (db != nullptr) db[at] -= hit;
    }
  }

  // dW = dz' x as [vocabulary, width], or x' dz as [width, vocabulary]
  void gradient_of_weights(std::int64_t slice) {
    const float* z = logits_of(slice);
    for (std::int64_t p = 0; p < rows_; p += kDepth) {
      GemmBlock block;
      block.k = std::min(kDepth, rows_ - p);
      block.a_row = 1;
      block.beta = first_ == 0 && p == 0 ? 0.0F : 1.0F;
      block.b_padded = true;
      if (l_.transposed) {
        block.m = l_.width;
        block.n = width_of(slice);
        block.a = x() + p * l_.x_stride;
        block.a_k = l_.x_stride;
        block.b = z + p * kPitch;
        block.b_k = kPitch;
        block.b_panel = gemm_.nr;
        block.c = l_.dweights + slice * kSlice;
        block.c_row = l_.vocabulary;
      } else {
        block.m = width_of(slice);
        block.n = l_.width;
        block.a = z + p * kPitch;
        block.a_k = kPitch;
        block.b = x_panels_.data() + p * gemm_.nr;
        block.b_k = gemm_.nr;
        block.b_panel = gemm_.nr * rows_;
        block.c = l_.dweights + slice * kSlice * l_.width;
        block.c_row = l_.width;
      }
      multiply(block);
    }
  }

  // dx = dz W, of a group of slices
  void gradient_of_x(std::int64_t slice, std::int64_t group, bool first, bool more) {
    for (std::int64_t p = 0; p < width_of(slice); p += kDepth) {
      GemmBlock block;
      block.m = rows_;
      block.n = l_.width;
      block.k = std::min(kDepth, width_of(slice) - p);
      block.a = logits_of(slice) + p;
      block.a_row = kPitch;
      block.b = back_.panels() + (slice * kSlice + p) * gemm_.nr;
      block.b_k = gemm_.nr;
      block.b_panel = gemm_.nr * l_.vocabulary;
      block.b_padded = true;
      block.beta = first && p == 0 ? 0.0F : 1.0F;
      block.c = dx_parts_.data() + group * most_rows_ * l_.width;
      block.c_row = l_.width;
      if (more && p == 0) block.fetch[0] = {logits_of(slice + 1), rows_, kSlice, kPitch};
      multiply(block);
    }
  }

  const OutputLayer& l_;
  const kernels::GemmKernels& gemm_;
  bool learns_;
  std::int64_t slices_;
  bool pairs_;  // R-Drop
  std::int64_t most_rows_, groups_;
  PackedMatrix forward_;  // W' as [width, vocabulary]
  PackedMatrix back_;     // W as [vocabulary, width]
  Tensor logits_;  // [slices, rows, pitch]: logits, their exp, their gradient; one slice per thread if no gradient
                   // is wanted
  Tensor max_, sum_, total_;               // [slices, rows]: of exp_slice
  Tensor target_logit_;                    // [rows]
  Tensor apart_, weighted_;                // [slices, rows / 2, pitch], [slices, rows]: of exp_pair
  ArenaVector<kernels::PairTerms> terms_;  // [rows / 2]
  ArenaVector<double> lse_;                // [rows]: log of the sum of exp of a row's logits
  ArenaVector<float> hit_;                 // [rows]: of a mixture, what a target's logit gets
  Tensor dx_parts_;                        // [groups, rows, width]
  Tensor x_panels_;                        // the block's rows of x, packed
  std::int64_t first_ = 0, rows_ = 0;      // the block
  OutputLoss result_;
};

}  // namespace

OutputLoss output_loss(const OutputLayer& layer) {
  return Blocks(layer).run();
}

}  // namespace fovea
