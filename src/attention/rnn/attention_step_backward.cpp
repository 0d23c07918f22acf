// The attention of a decoder's step, backwards: with da_j = dcontext . m_j (+ what comes to the weights from outside
// and from later steps' coverage), softmax's weights w_j and the Gaussian's g_j, so that a_j = w_j g_j:
//   ds_j = w_j (da_j g_j - sum_i w_i g_i da_i)
//   dp   = sum_j da_j a_j (j - p) / sigma^2,  dz = dp p (1 - p / S),  d(W_p h) = dz v_p (1 - t^2)
//   additive  dq = sum_j ds_j v (1 - tanh^2), the same for dk_j;  dot  dq = scale sum_j ds_j k_j;  location  dq_j =
//   ds_j
//   with a gate b that made c = b sum_j a_j m_j:  db = dc . sum_j a_j m_j, and b dc takes dc's place
//   of one row that was read: da_j has only what comes from outside
// The gradients of the memory and of a dot product's keys are products over all steps, made after the loop.
#include <algorithm>

#include "attention/rnn/attention_keys.hpp"
#include "attention/rnn/attention_step.hpp"
#include "autograd/recurrent/rows.hpp"
#include "kernels/math.hpp"

namespace fovea::decoder {
namespace {

// dq of q / max(|q|, epsilon), in place.
void unit_back(const float* unit, float norm, float epsilon, Int n, float* dq) {
  float along = 0;
  for (Int i = 0; norm > epsilon && i < n; ++i) along += unit[i] * dq[i];
  const float divisor = std::max(norm, epsilon);
  for (Int i = 0; i < n; ++i) dq[i] = (dq[i] - unit[i] * along) / divisor;
}

// From da [S] to ds in place, between the visible keys; gives dp.
float softmax_back(const Decoder& d, const Range& range, float center, const float* a, float* da) {
  float total = 0;
  for (Int j = range.low; j < range.high; ++j) total += a[j] * da[j];
  float dcenter = 0;
  const float sigma = static_cast<float>(d.half_width) / 2;
  for (Int j = range.low; j < range.high; ++j) {
    if (d.gaussian) {
      const float g = bell(d, j, center);
      dcenter += da[j] * a[j] * (static_cast<float>(j) - center) / (sigma * sigma);
      da[j] = a[j] / g * (da[j] * g - total);
    } else {
      da[j] = a[j] * (da[j] - total);
    }
  }
  return dcenter;
}

// d(W_p h) of one row, from the tanh that was kept.
void center_back(const Decoder& d, Int b, float center, float dcenter, const float* tanh, float* dsum, float* dvector) {
  const auto length = static_cast<float>(d.source.length(b));
  const float dz = length > 0 ? dcenter * center * (1 - center / length) : 0.0F;
  for (Int i = 0; i < d.center_dim; ++i) {
    if (dvector != nullptr) dvector[i] += dz * tanh[i];
    dsum[i] = dz * d.center_vector_value.data()[i] * (1 - tanh[i] * tanh[i]);
  }
}

}  // namespace

void attend_backward(const Decoder& d, const AttentionRows& rows, const float* dcontexts, Int context_stride,
                     const Tensor& dweights, float* dcoverage, float* dqueries, const AttentionGradients& gradients,
                     const AttentionSums& sums, AttentionScratch& scratch) {
  const auto& kernels = *kernels::active().attention_step;
  const Source& source = d.source;
  float* dq_rows = d.query ? scratch.projected.data() : dqueries;
  for (Int j = 0; j < rows.count; ++j) {
    const Int b = rows.sequence[j];
    const Int kept = rows.kept[j];
    const float center = d.centers ? d.centers.data()[kept] : 0.0F;
    const Range range = visible(d, source, b, center);
    const float* dcontext = dcontexts + j * context_stride;
    const float* a = row_of(d.weights, kept);
    float* ds = row_of(scratch.weights, j);
    zero_row(ds, source.steps);
    kernels.dot(range.count(), d.memory_width, 1, dcontext, source.memory_row(b, range.low), d.memory_width,
                ds + range.low);
    float open = 1;
    if (d.gate) {
      open = d.gates.data()[kept];
      const float* read = row_of(d.read, kept);
      float dopen = 0;
      for (Int i = range.low; i < range.high; ++i) {
        dopen += read[i] * ds[i];
        ds[i] *= open;
      }
      gradients.gates.data()[kept] = dopen * open * (1 - open);
    }
    if (d.reading != Reading::soft) zero_row(ds, source.steps);
    float* later = dcoverage == nullptr ? nullptr : dcoverage + j * source.steps;
    for (Int i = range.low; i < range.high; ++i) {
      if (dweights) ds[i] += row_of(dweights, kept)[i];
      if (later != nullptr) ds[i] += later[i];
    }
    const float dcenter = softmax_back(d, range, center, a, ds);
    if (float* to = row_of(gradients.contexts, kept)) {
      for (Int i = 0; i < d.memory_width; ++i) to[i] = open * dcontext[i];
    }
    keep_row(ds, row_of(gradients.scores, kept), source.steps);
    if (d.centering) {
      center_back(d, b, center, dcenter, row_of(d.center_tanh, kept), row_of(scratch.center, j), sums.center_vector);
      keep_row(row_of(scratch.center, j), row_of(gradients.centers, kept), d.center_dim);
    }
    float* dq = dq_rows + j * d.dim;
    const float* query = row_of(d.queries, kept);
    if (d.kind == Kind::location) {
      zero_row(dq, d.dim);
      copy_row(ds, dq, source.steps);
    } else if (d.kind == Kind::dot) {
      kernels.weigh(range.count(), d.dim, ds + range.low, source.keys.data() + source.key_at(b, range.low), d.dim, dq);
      for (Int i = 0; i < d.dim; ++i) dq[i] *= d.scale;
    } else {
      const float* covered = row_of(d.coverage, kept);
      const Additive step = additive(d, source, b, range, query, covered, scratch.exp.data());
      float* dcovered = covered == nullptr ? nullptr : scratch.covered.data();
      const Tensor& dkeys = gradients.keys.tensor;
      (step.exponentials ? kernels.additive_exp_backward : kernels.additive_backward)(
          step.step, {.dscores = ds + range.low,
                      .dq = dq,
                      .dk = dkeys ? dkeys.data() + source.key_at(b, range.low) : nullptr,
                      .dv = sums.vector,
                      .dcoverage = dcovered,
                      .dcoverage_weight = covered == nullptr ? nullptr : sums.coverage_weight});
      for (Int i = 0; dcovered != nullptr && i < range.count(); ++i) later[range.low + i] += dcovered[i];
    }
    if (sums.query_bias != nullptr) add_row(dq, sums.query_bias, d.dim);
    keep_row(dq, row_of(gradients.queries, kept), d.dim);
  }
  if (d.query) d.query_back.multiply(rows.count, dq_rows, d.dim, 0, dqueries, d.units);
  for (Int j = 0; d.unit_epsilon > 0 && j < rows.count; ++j) {
    const Int kept = rows.kept[j];
    unit_back(row_of(d.queries, kept), d.query_norms.data()[kept], d.unit_epsilon, d.units, dqueries + j * d.units);
  }
  for (Int j = 0; d.gate && j < rows.count; ++j) {
    const float dz = gradients.gates.data()[rows.kept[j]];
    for (Int i = 0; i < d.units; ++i) dqueries[j * d.units + i] += dz * d.gate_value.data()[i];
  }
  if (d.centering) d.centering_back.multiply(rows.count, scratch.center.data(), d.center_dim, 1, dqueries, d.units);
}

}  // namespace fovea::decoder
