// A head of attention with random content, for tests of the kernels: arrays with rows further apart than they are wide.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/arena.hpp"
#include "kernels/attention.hpp"
#include "kernels/kernels.hpp"

namespace fovea::test {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

enum class Family { dot, additive };

struct ProblemShape {
  std::int64_t queries = 1, keys = 1, dim = 1, value_dim = 1;
};

// What an attention kernel reads and writes, for either family. The rows of every array are `gap` floats longer than
// needed, and the gaps hold NaN: a kernel that uses them shows it.
class Problem {
 public:
  using Floats = std::vector<float>;
  static constexpr std::int64_t kGap = 3;

  Problem(Family f, const ProblemShape& s, unsigned seed) : family(f), shape(s), generator_(seed) {
    const float spread = f == Family::dot ? 1.0F : 0.7F;
    q = random(s.queries, s.dim, spread);
    k = random(s.keys, s.dim, spread);
    v = random(s.keys, s.value_dim, 1.0F);
    w = random(1, s.dim, 0.8F);
    dout = random(s.queries, s.value_dim, 1.0F);
    out = Floats(static_cast<std::size_t>(s.queries * (s.value_dim + kGap)), kNan);
    peak = mass = Floats(static_cast<std::size_t>(s.queries), kNan);
    visibility.length = s.keys;
    visibility.offset = s.keys - s.queries;
    scale = 1.0F / std::sqrt(static_cast<float>(s.dim));
  }

  [[nodiscard]] Floats random(std::int64_t rows, std::int64_t width, float spread) {
    std::normal_distribution<float> normal(0.0F, spread);
    Floats x(static_cast<std::size_t>(rows * (width + kGap)), kNan);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t d = 0; d < width; ++d) x[static_cast<std::size_t>(r * (width + kGap) + d)] = normal(generator_);
    }
    return x;
  }
  void add_bias(float spread = 1.0F) {
    bias = random(shape.queries, shape.keys, spread);
    visibility.bias_row = shape.keys + kGap;
    visibility.bias_column = 1;
  }
  void add_mask(double visible) {
    std::bernoulli_distribution coin(visible);
    mask.resize(static_cast<std::size_t>(shape.queries * shape.keys));
    for (auto& m : mask) m = coin(generator_) ? 1 : 0;
    visibility.mask_stride = shape.keys;
  }

  [[nodiscard]] kernels::Visibility whole_visibility() const {
    kernels::Visibility s = visibility;
    if (!bias.empty()) s.bias = bias.data();
    if (!mask.empty()) s.mask = mask.data();
    return s;
  }
  [[nodiscard]] kernels::DotHead dot() {
    kernels::DotHead h;
    fill(h);
    h.q = q.data();
    h.k = k.data();
    h.q_stride = h.k_stride = shape.dim + kGap;
    h.scale = scale;
    return h;
  }
  [[nodiscard]] kernels::AdditiveHead additive() {
    kernels::AdditiveHead h;
    fill(h);
    h.a = q.data();
    h.b = k.data();
    h.w = w.data();
    h.a_stride = h.b_stride = shape.dim + kGap;
    return h;
  }

  void forward(const kernels::Table& table) { forward(table, {0, shape.queries}); }
  void forward(const kernels::Table& table, kernels::Range rows) {
    if (family == Family::dot) {
      table.attention->dot_forward(dot(), rows, scratch(table));
    } else {
      table.attention->additive_forward(additive(), rows, scratch(table));
    }
  }

  // Gradients, all but dw written over what is there unless `add`.
  void backward(const kernels::Table& table, bool add = false) {
    const auto sized = [&](Floats& x, std::int64_t rows, std::int64_t width) {
      if (!add) x.assign(static_cast<std::size_t>(rows * (width + kGap)), kNan);
    };
    sized(dq, shape.queries, shape.dim);
    sized(dk, shape.keys, shape.dim);
    sized(dv, shape.keys, shape.value_dim);
    if (!add) dw.assign(static_cast<std::size_t>(shape.dim), 0.0F);
    if (!add) dbias.assign(static_cast<std::size_t>(shape.queries * shape.keys), 0.0F);
    kernels::AttentionGrads g;
    g.dout = dout.data();
    g.dout_stride = shape.value_dim + kGap;
    g.dlog_sum = dlog_sum.empty() ? nullptr : dlog_sum.data();
    g.dw = dw.data();
    if (want_dbias) {
      g.dbias = dbias.data();
      g.dbias_row = shape.keys;
      g.dbias_column = 1;
    }
    for (std::int64_t key = 0; key < shape.keys; key += kernels::kKeyChunk) {
      const kernels::Range keys{key, std::min(key + kernels::kKeyChunk, shape.keys)};
      g.dq = {dq.data(), shape.dim + kGap, add || key > 0};
      g.dk = {dk.data(), shape.dim + kGap, add};
      g.dv = {dv.data(), shape.value_dim + kGap, add};
      if (family == Family::dot) {
        table.attention->dot_backward(dot(), g, {0, shape.queries}, keys, scratch(table));
      } else {
        table.attention->additive_backward(additive(), g, {0, shape.queries}, keys, scratch(table));
      }
    }
  }

  void weights(const kernels::Table& table, const kernels::WeightsWanted& wanted, kernels::Range rows) {
    if (family == Family::dot) {
      table.attention->dot_weights(dot(), wanted, rows, scratch(table));
    } else {
      table.attention->additive_weights(additive(), wanted, rows, scratch(table));
    }
  }

  // sum of out * dout, in double.
  [[nodiscard]] double loss() const {
    double total = 0;
    for (std::int64_t i = 0; i < shape.queries; ++i) {
      for (std::int64_t e = 0; e < shape.value_dim; ++e) {
        const auto at = static_cast<std::size_t>(i * (shape.value_dim + kGap) + e);
        total += static_cast<double>(out[at]) * dout[at];
      }
    }
    return total;
  }

  [[nodiscard]] std::string text() const {
    return (family == Family::dot ? "dot " : "additive ") + std::to_string(shape.queries) + "x" +
           std::to_string(shape.keys) + " dim " + std::to_string(shape.dim) + " value " +
           std::to_string(shape.value_dim) + " causal " + std::to_string(static_cast<int>(visibility.causal)) +
           " window " + std::to_string(visibility.window) + " length " + std::to_string(visibility.length) + " bias " +
           std::to_string(bias.size()) + " mask " + std::to_string(mask.size()) + " dropout " +
           std::to_string(dropout.rate) + " alibi " + std::to_string(visibility.alibi_slope);
  }

  Family family;
  ProblemShape shape;
  Floats q, k, v, w, out, peak, mass, dout, bias;
  Floats dq, dk, dv, dw, dbias;
  Floats dlog_sum, sink;  // empty: none
  bool want_dbias = false;
  kernels::ScoreChange change;
  std::vector<std::uint8_t> mask;
  kernels::Visibility visibility;
  kernels::WeightDropout dropout;
  float scale = 1;

 private:
  template <class Head>
  void fill(Head& h) {
    h.queries = shape.queries;
    h.keys = shape.keys;
    h.dim = shape.dim;
    h.value_dim = shape.value_dim;
    h.v = v.data();
    h.v_stride = h.out_stride = shape.value_dim + kGap;
    h.visibility = whole_visibility();
    h.change = change;
    h.sink = sink.empty() ? nullptr : sink.data();
    h.dropout = dropout;
    h.out = out.data();
    h.peak = peak.data();
    h.mass = mass.data();
  }
  float* scratch(const kernels::Table& table) {
    const auto floats = static_cast<std::size_t>(table.attention->scratch(shape.keys, shape.dim, shape.value_dim));
    scratch_.assign(floats + 16, kNan);  // what an earlier call left means nothing
    const auto address = reinterpret_cast<std::uintptr_t>(scratch_.data());
    return scratch_.data() + (64 - address % 64) % 64 / sizeof(float);
  }

  std::mt19937 generator_;
  Floats scratch_;
};

/// Rows of `width` that are Problem::kGap apart: equal within `tolerance` of the largest, and the gaps untouched.
inline void expect_rows_near(const std::vector<float>& actual, const std::vector<float>& expected, std::int64_t width,
                             float tolerance, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  const auto stride = static_cast<std::size_t>(width + Problem::kGap);
  float largest = 1;
  for (const float x : expected) {
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  }
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (i % stride >= static_cast<std::size_t>(width)) {
      ASSERT_TRUE(std::isnan(actual[i])) << what << ": wrote into the gap after row " << i / stride;
    } else {
      ASSERT_NEAR(actual[i], expected[i], tolerance * largest)
          << what << ": row " << i / stride << ", column " << i % stride;
    }
  }
}

}  // namespace fovea::test
