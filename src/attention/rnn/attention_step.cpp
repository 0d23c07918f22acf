// One query q of a row over the keys k_j of its sequence that are visible to it:
//   forward   s_j = v . tanh(q + k_j + e_j c), scale q . k_j, or q_j;   a = softmax(s) times a Gaussian around the
//   centre p
//             context = sum_j a_j m_j;  coverage e += a;  p = S sigmoid(v_p . tanh(W_p h))
//             with a gate: context times sigmoid(g . h + b). Reading one row j: context = m_j, j the arg max of a, or
//             drawn by it
//   backward  see attention_step_backward.cpp
#include "attention/rnn/attention_step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/rnn/attention_keys.hpp"
#include "autograd/recurrent/rows.hpp"
#include "base/rng.hpp"
#include "fovea/attention/interventions.hpp"
#include "kernels/attention_step.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"

namespace fovea::decoder {

AttentionScratch::AttentionScratch(const Decoder& d, const Source& source, Int rows)
    : unit(d.unit_epsilon > 0 ? Tensor::empty({rows, d.units}) : Tensor()),
      projected(Tensor::empty({rows, std::max(d.dim, d.units)})),
      exp(Tensor::empty({d.dim})),
      weights(Tensor::empty({rows, source.steps})),
      center(d.center ? Tensor::empty({rows, d.center_dim}) : Tensor()),
      covered(Tensor::empty({source.steps})) {}

namespace {

// q / max(|q|, epsilon); gives the norm.
float make_unit(const float* q, Int n, float epsilon, float* unit) {
  double squares = 0;
  for (Int i = 0; i < n; ++i) squares += static_cast<double>(q[i]) * q[i];
  const auto norm = static_cast<float>(std::sqrt(squares));
  const float divisor = std::max(norm, epsilon);
  for (Int i = 0; i < n; ++i) unit[i] = q[i] / divisor;
  return norm;
}

// tanh of the rows in place, and the centre of each.
float predict(const Decoder& d, float* row, Int length) {
  kernels::active().math->tanh(row, row, static_cast<std::size_t>(d.center_dim));
  float z = 0;
  for (Int i = 0; i < d.center_dim; ++i) z += d.center_vector_value.data()[i] * row[i];
  return static_cast<float>(length) / (1.0F + std::exp(-z));
}

// sigmoid(g . h + b)
float gate_of(const Decoder& d, const float* h) {
  float z = 0;
  kernels::active().attention_step->dot(1, d.units, 1, h, d.gate_value.data(), d.units, &z);
  return 1.0F / (1.0F + std::exp(-z - d.gate_bias_value));
}

// The one row that is read: the first of most weight, or the first whose weights up to it exceed a random number that
// depends on the sequence and the step alone. -1: none is visible.
Int chosen(const Decoder& d, Int b, Int step, const Range& range, const float* w) {
  if (range.count() == 0) return -1;
  if (d.reading == Reading::hard) return std::max_element(w + range.low, w + range.high) - w;
  double left = Rng(d.reading_seed ^ mix64(static_cast<std::uint64_t>(b)), static_cast<std::uint64_t>(step)).uniform();
  Int last = range.low;
  for (Int i = range.low; i < range.high; ++i) {
    if (w[i] > 0) last = i;
    left -= w[i];
    if (left < 0) return i;
  }
  return last;  // the weights summed to a little less than 1
}

void score(const Decoder& d, const Source& source, Int b, const Range& range, const float* q, const float* coverage,
           float* exp, float* w) {
  const auto& kernels = *kernels::active().attention_step;
  if (d.kind == Kind::location) {
    std::copy_n(q + range.low, range.count(), w + range.low);
  } else if (d.kind == Kind::dot) {
    const float* keys = source.keys.data() + source.key_at(b, range.low);
    kernels.dot(range.count(), d.dim, d.scale, q, keys, d.dim, w + range.low);
  } else {
    const Additive a = additive(d, source, b, range, q, coverage, exp);
    (a.exponentials ? kernels.additive_exp : kernels.additive)(a.step, w + range.low);
  }
}

}  // namespace

void attend_rows(const Decoder& d, const Source& source, const AttentionRows& rows, const float* queries,
                 float* contexts, Int context_stride, float* coverage, AttentionScratch& scratch) {
  const auto& kernels = *kernels::active().attention_step;
  const float* q = queries;
  Int q_width = d.units;
  if (d.unit_epsilon > 0) {
    for (Int j = 0; j < rows.count; ++j) {
      const float norm = make_unit(queries + j * d.units, d.units, d.unit_epsilon, row_of(scratch.unit, j));
      if (rows.kept != nullptr && d.query_norms) d.query_norms.data()[rows.kept[j]] = norm;
    }
    q = scratch.unit.data();
  }
  if (d.query) {
    q_width = d.dim;
    for (Int j = 0; d.query_bias && j < rows.count; ++j) {
      copy_row(d.query_bias_value.data(), scratch.projected.data() + j * d.dim, d.dim);
    }
    d.query.multiply(rows.count, q, d.units, d.query_bias ? 1.0F : 0.0F, scratch.projected.data(), d.dim);
    q = scratch.projected.data();
  }
  if (d.centering) d.centering.multiply(rows.count, queries, d.units, 0, scratch.center.data(), d.center_dim);
  for (Int j = 0; j < rows.count; ++j) {
    const Int b = rows.sequence[j];
    const Int kept = rows.kept == nullptr ? 0 : rows.kept[j];
    const auto keep = [&](const Tensor& array) { return rows.kept == nullptr ? nullptr : row_of(array, kept); };
    const float* query = q + j * q_width;
    float center = static_cast<float>(rows.step);
    if (d.centering) {
      center = predict(d, row_of(scratch.center, j), source.length(b));
      keep_row(row_of(scratch.center, j), keep(d.center_tanh), d.center_dim);
    }
    if (float* to = keep(d.centers)) *to = center;
    const Range range = visible(d, source, b, center);
    float* covered = coverage == nullptr ? nullptr : coverage + j * source.steps;
    keep_row(covered, keep(d.coverage), source.steps);
    keep_row(query, keep(d.queries), d.dim);
    float* w = row_of(scratch.weights, j);
    zero_row(w, source.steps);
    score(d, source, b, range, query, covered, scratch.exp.data(), w);
    if (rows.queries != nullptr) copy_row(query, rows.queries + j * d.dim, d.dim);
    if (rows.scores != nullptr) {
      float* scores = rows.scores + j * source.steps;
      std::fill_n(scores, source.steps, -std::numeric_limits<float>::infinity());
      std::copy(w + range.low, w + range.high, scores + range.low);
    }
    kernels.softmax(range.count(), w + range.low);
    for (Int i = range.low; d.gaussian && i < range.high; ++i) w[i] *= bell(d, i, center);
    if (rows.editor != nullptr) {
      rows.editor->edit({b, 0, rows.step, range.low}, {w + range.low, static_cast<std::size_t>(range.count())}, {});
    }
    float* context = contexts + j * context_stride;
    if (d.reading == Reading::soft) {
      kernels.weigh(range.count(), d.memory_width, w + range.low, source.memory_row(b, range.low), d.memory_width,
                    context);
    } else {
      const Int row = chosen(d, b, rows.step, range, w);
      zero_row(context, d.memory_width);
      if (row >= 0) copy_row(source.memory_row(b, row), context, d.memory_width);
      if (float* to = keep(d.read)) {
        zero_row(to, source.steps);
        if (row >= 0) to[row] = 1;
      }
    }
    if (d.gate) {
      const float open = gate_of(d, queries + j * d.units);
      for (Int i = 0; i < d.memory_width; ++i) context[i] *= open;
      if (float* to = keep(d.gates)) *to = open;
    }
    keep_row(w, keep(d.weights), source.steps);
    for (Int i = 0; covered != nullptr && i < source.steps; ++i) covered[i] += w[i];
  }
}

}  // namespace fovea::decoder
