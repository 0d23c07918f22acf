// From scores to weights, row by row, over the visible keys; s is the score divided by the temperature T.
//   softmax    w = exp(s - max) / sum                    ds = w (dw - sum w dw + dlog_sum)
//     a sink adds exp(sink - max) to the sum             dsink = its share (dlog_sum - sum w dw)
//   sparsemax  w = max(s - tau, 0), sum w = 1            ds = dw - mean of dw over w > 0, there; else 0
//   entmax     w = max((a - 1) s - tau, 0)^(1 / (a - 1)) ds = g (dw - sum g dw / sum g), g = w^(2 - a)
//     sum w = 1                                          da = sum dw ((w - p) / (a - 1)^2 + (e - p sum e) / (a - 1)),
//                                                        p = g / sum g, e = -w ln w
//   sigmoid    w = 1 / (1 + exp(-s - bias))              ds = w (1 - w) dw
//   tanh       w = tanh(s)                               ds = (1 - w^2) dw
//   hard       w = 1 at the first largest s              ds = 0; straight-through: softmax's
//   sampled    w = 1 at j sampled with p = softmax(s)    ds = dlogp (w - p); straight-through: plus softmax's
// and dscore = ds / T. Rows without visible keys are 0; with a NaN or +infinity at a visible key a row is NaN at all
// visible keys.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "attention/rows/rows.hpp"
#include "base/rng.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"

namespace fovea::attention {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Row {
  const float* s;  // -inf where not visible; pitch values
  const std::uint8_t* visible;
  float* w;
  Int columns, pitch;
  float largest;  // of s; -inf when nothing is visible
};

// Eight partial sums, over whole rows of `pitch` values: trailing zeros do not change the bytes.
template <class F>
float sum_over(Int pitch, F&& f) {
  float part[8] = {};
  for (Int c = 0; c < pitch; c += 8) {
    for (Int x = 0; x < 8; ++x) part[x] += f(c + x);
  }
  return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

// `log_sum`, if not null, gets ln of the sum.
void softmax(const Row& row, float* p, const float* sink = nullptr, float* log_sum = nullptr) {
  const float largest = sink == nullptr ? row.largest : std::max(row.largest, *sink);
  for (Int c = 0; c < row.pitch; ++c) p[c] = row.s[c] - largest;
  kernels::active().math->exp(p, p, static_cast<std::size_t>(row.pitch));
  for (Int c = 0; c < row.pitch; ++c) p[c] = row.visible[c] != 0 ? p[c] : 0.0F;
  const float sum =
      sum_over(row.pitch, [p](Int c) { return p[c]; }) + (sink == nullptr ? 0 : std::exp(*sink - largest));
  if (log_sum != nullptr) *log_sum = largest + std::log(sum);
  const float scale = 1.0F / sum;
  for (Int c = 0; c < row.pitch; ++c) p[c] *= scale;
}

// The scores that can have weight, s - max > -reach, sorted downwards, with max as 0.
Int candidates(const Row& row, float reach, float* sorted) {
  Int n = 0;
  for (Int c = 0; c < row.columns; ++c) {
    const float x = row.s[c] - row.largest;
    if (x > -reach) sorted[n++] = x;
  }
  std::sort(sorted, sorted + n, std::greater<>());
  return n;
}

void sparsemax(const Row& row, float* sorted) {
  const Int n = candidates(row, 1.0F, sorted);
  double total = 0;
  double tau = -1;
  for (Int k = 0; k < n; ++k) {
    total += sorted[k];
    const double t = (total - 1) / static_cast<double>(k + 1);
    if (sorted[k] <= t) break;
    tau = t;
  }
  for (Int c = 0; c < row.columns; ++c) {
    row.w[c] = std::max(0.0F, static_cast<float>(static_cast<double>(row.s[c] - row.largest) - tau));
  }
}

// tau by halving its interval: the largest score has weight 1 at -1, and the sum falls as tau rises.
void entmax(const Row& row, double alpha) {
  const double power = 1 / (alpha - 1);
  const auto weight = [&](Int c, double tau) {
    const double x = (alpha - 1) * static_cast<double>(row.s[c] - row.largest) - tau;
    return row.visible[c] != 0 && x > 0 ? std::pow(x, power) : 0.0;
  };
  const auto total = [&](double tau) {
    double sum = 0;
    for (Int c = 0; c < row.columns; ++c) sum += weight(c, tau);
    return sum;
  };
  double low = -1;
  double high = 0;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (total(middle) >= 1 ? low : high) = middle;
  }
  const double sum = total(low);
  for (Int c = 0; c < row.columns; ++c) row.w[c] = static_cast<float>(weight(c, low) / sum);
}

void entmax15(const Row& row, float* sorted) {
  const Int n = candidates(row, 2.0F, sorted);
  double total = 0;
  double squares = 0;
  double tau = -1;
  for (Int k = 0; k < n; ++k) {
    const double x = sorted[k] / 2.0;
    const auto count = static_cast<double>(k + 1);
    total += x;
    squares += x * x;
    const double mean = total / count;
    const double spread = squares - total * mean;  // sum of (x - mean)^2
    if (spread > 1) break;
    const double t = mean - std::sqrt((1 - spread) / count);
    if (x <= t) break;
    tau = t;
  }
  for (Int c = 0; c < row.columns; ++c) {
    const double x = static_cast<double>(row.s[c] - row.largest) / 2 - tau;
    row.w[c] = x > 0 ? static_cast<float>(x * x) : 0.0F;
  }
}

void sigmoid(const Row& row, float bias) {
  for (Int c = 0; c < row.columns; ++c) {
    const float x = row.s[c] + bias;
    const float e = std::exp(-std::abs(x));
    row.w[c] = row.visible[c] == 0 ? 0.0F : (x >= 0 ? 1.0F : e) / (1.0F + e);
  }
}

// One key by its probability: the first whose running sum exceeds u times the total.
Int draw(const float* p, Int columns, double u) {
  double total = 0;
  for (Int c = 0; c < columns; ++c) total += p[c];
  double sum = 0;
  Int last = -1;
  for (Int c = 0; c < columns; ++c) {
    if (p[c] <= 0) continue;
    last = c;
    sum += p[c];
    if (sum > u * total) break;
  }
  return last;
}

float alpha_of(const Plan& plan, const normalizer::Entmax& how, Int h) {
  return plan.alphas ? plan.alphas.data()[h] : how.alpha;
}

struct Forward {
  const Plan& plan;
  const Block& block;
  Row row;
  Int r;
  float* scratch;

  void operator()(const normalizer::Softmax&) const {
    softmax(row, row.w, plan.sinks ? plan.sinks.data() + block.h : nullptr, block.log_sum + r);
  }
  void operator()(const normalizer::Sparsemax&) const { sparsemax(row, scratch); }
  void operator()(const normalizer::Entmax& how) const {
    const float alpha = alpha_of(plan, how, block.h);
    if (alpha == 2.0F) return sparsemax(row, scratch);
    if (alpha == 1.5F) return entmax15(row, scratch);
    entmax(row, static_cast<double>(alpha));
  }
  void operator()(const normalizer::Sigmoid& how) const { sigmoid(row, how.bias); }
  void operator()(const normalizer::Tanh&) const {
    for (Int c = 0; c < row.columns; ++c) row.w[c] = row.visible[c] == 0 ? 0.0F : std::tanh(row.s[c]);
  }
  void operator()(const normalizer::Hard& how) const {
    Int best = 0;
    while (row.s[best] != row.largest) ++best;
    if (how.straight_through) softmax(row, block.scores + r * block.pitch);
    row.w[best] = 1;
  }
  void operator()(const normalizer::Sampled& how) const {
    float* p = block.scores + r * block.pitch;
    softmax(row, p);
    const Int draw_index = (block.b * plan.heads + block.h) * plan.queries + block.first + r;
    Rng rng(how.seed, static_cast<std::uint64_t>(draw_index));
    row.w[draw(p, row.columns, rng.uniform())] = 1;
  }
};

void softmax_backward(const float* w, const float* dw, float* ds, Int pitch, float dlog_sum = 0) {
  const float mean = sum_over(pitch, [w, dw](Int c) { return w[c] * dw[c]; }) - dlog_sum;
  for (Int c = 0; c < pitch; ++c) ds[c] = w[c] * (dw[c] - mean);
}

struct Backward {
  const float* w;
  const float* p;  // softmax's probabilities, for the hard choices
  float* g;        // in: dw, out: ds
  Int pitch;
  float dlog;
  float alpha;    // of entmax
  float* dalpha;  // null: not wanted

  void operator()(const normalizer::Softmax&) const { softmax_backward(w, g, g, pitch, dlog); }
  void operator()(const normalizer::Sparsemax&) const {
    const float count = sum_over(pitch, [this](Int c) { return w[c] > 0 ? 1.0F : 0.0F; });
    const float mean = sum_over(pitch, [this](Int c) { return w[c] > 0 ? g[c] : 0.0F; }) / std::max(count, 1.0F);
    for (Int c = 0; c < pitch; ++c) g[c] = w[c] > 0 ? g[c] - mean : w[c] * 0.0F;
  }
  void operator()(const normalizer::Entmax&) const {
    const auto slope = [this](Int c) {
      return alpha == 1.5F ? std::sqrt(w[c]) : w[c] > 0 ? std::pow(w[c], 2 - alpha) : 0.0F;
    };
    const float total = std::max(sum_over(pitch, slope), 1e-30F);
    if (dalpha != nullptr) add_dalpha(slope, static_cast<double>(total));
    const float mean = sum_over(pitch, [&, this](Int c) { return slope(c) * g[c]; }) / total;
    for (Int c = 0; c < pitch; ++c) g[c] = slope(c) * (g[c] - mean);
  }
  template <class Slope>
  void add_dalpha(const Slope& slope, double total) const {
    const double over = 1 / (static_cast<double>(alpha) - 1);
    double entropy = 0;
    for (Int c = 0; c < pitch; ++c) entropy -= w[c] > 0 ? w[c] * std::log(static_cast<double>(w[c])) : 0;
    double sum = 0;
    for (Int c = 0; c < pitch; ++c) {
      if (!(w[c] > 0)) continue;
      const double p = static_cast<double>(slope(c)) / total;
      const double e = -w[c] * std::log(static_cast<double>(w[c]));
      sum += static_cast<double>(g[c]) * ((w[c] - p) * over * over + (e - p * entropy) * over);
    }
    *dalpha += static_cast<float>(sum);
  }
  void operator()(const normalizer::Sigmoid&) const {
    for (Int c = 0; c < pitch; ++c) g[c] *= w[c] * (1 - w[c]);
  }
  void operator()(const normalizer::Tanh&) const {
    for (Int c = 0; c < pitch; ++c) g[c] *= 1 - w[c] * w[c];
  }
  void operator()(const normalizer::Hard& how) const {
    if (how.straight_through) return softmax_backward(p, g, g, pitch);
    std::fill_n(g, pitch, 0.0F);
  }
  void operator()(const normalizer::Sampled& how) const {
    if (how.estimator == normalizer::Estimator::straight_through) {
      softmax_backward(p, g, g, pitch);
    } else {
      std::fill_n(g, pitch, 0.0F);
    }
    if (dlog == 0.0F) return;
    for (Int c = 0; c < pitch; ++c) g[c] += dlog * (w[c] - p[c]);
  }
};

}  // namespace

Int chosen_column(const float* weights, Int columns) {
  const float* at = std::find(weights, weights + columns, 1.0F);
  return at == weights + columns ? -1 : at - weights;
}

void normalize_block(const Plan& plan, const Block& block) {
  const Tensor scratch = Tensor::empty({block.pitch});
  for (Int r = 0; r < block.rows; ++r) {
    Row row{block.scores + r * block.pitch,
            block.visible + r * block.pitch,
            block.weights + r * block.pitch,
            block.columns,
            block.pitch,
            -kInfinity};
    std::fill_n(row.w, row.pitch, 0.0F);
    bool broken = false;
    for (Int c = 0; c < row.columns; ++c) {
      row.largest = std::max(row.largest, row.s[c]);
      broken |= std::isnan(row.s[c]);
    }
    if (broken || row.largest == kInfinity) {
      block.log_sum[r] = std::numeric_limits<float>::quiet_NaN();
      for (Int c = 0; c < row.columns; ++c) {
        if (row.visible[c] != 0) row.w[c] = std::numeric_limits<float>::quiet_NaN();
      }
      std::copy_n(row.w, row.pitch, block.scores + r * block.pitch);
    } else if (row.largest == -kInfinity) {
      block.log_sum[r] = plan.sinks ? plan.sinks.data()[block.h] : -kInfinity;
      std::fill_n(block.scores + r * block.pitch, row.pitch, 0.0F);
    } else {
      std::visit(Forward{plan, block, row, r, scratch.data()}, plan.normalizer);
    }
  }
}

void normalize_block_backward(const Plan& plan, const Block& block, const View& dlogs, float* dsink, float* dalpha) {
  const auto* entmax_how = std::get_if<normalizer::Entmax>(&plan.normalizer);
  const float alpha = entmax_how == nullptr ? 0 : alpha_of(plan, *entmax_how, block.h);
  const float cooler = 1.0F / plan.temperature;
  for (Int r = 0; r < block.rows; ++r) {
    float* g = block.gradient + r * block.pitch;
    const std::uint8_t* visible = block.visible + r * block.pitch;
    for (Int c = 0; c < block.pitch; ++c) g[c] = visible[c] != 0 ? g[c] : 0.0F;
    const float dlog = dlogs ? *dlogs.at(block.b, block.h, block.first + r) : 0.0F;
    if (dsink != nullptr) {
      const float* w = block.weights + r * block.pitch;
      const float mean = sum_over(block.pitch, [w, g](Int c) { return w[c] * g[c]; });
      *dsink += std::exp(plan.sinks.data()[block.h] - block.log_sum[r]) * (dlog - mean);
    }
    std::visit(
        Backward{block.weights + r * block.pitch, block.scores + r * block.pitch, g, block.pitch, dlog, alpha, dalpha},
        plan.normalizer);
    for (Int c = 0; c < block.pitch; ++c) g[c] = visible[c] != 0 ? g[c] * cooler : 0.0F;
  }
}

}  // namespace fovea::attention
