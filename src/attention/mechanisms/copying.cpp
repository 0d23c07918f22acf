// add_attended        forward   y_t = r_t + sum_j w_tj v_j
//                     backward  dr_t = dy_t,  dw_tj = dy_t v_j,  dv_j = sum_t dy_t w_tj
// copy_shares         forward   s_t = log sigma(g_t),  o_t = log sigma(-g_t) + log m_t,  m_t = sum_{j: id_j = target_t}
// w_tj
//                     backward  dg_t = ds_t sigma(-g_t) - do_t sigma(g_t),  dw_tj = do_t / m_t where id_j = target_t
// copy_mixture        forward   p[x] = g P[x] + (1 - g) sum_{j: source_j = x} w_j
//                     backward  dP[x] = g dp[x],  dw_j = (1 - g) dp[source_j],
//                               dg = sum_x dp[x] P[x] - sum_j dp[source_j] w_j
#include "fovea/attention/copying.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "attention/mechanisms/weights.hpp"
#include "base/arena.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {

using Int = std::int64_t;

namespace {

template <class T>
using Kept = std::vector<T, ArenaAllocator<T>>;

// A weight that softmax has rounded to 0 counts as this, so that its logarithm is a number.
constexpr float kLeastMass = 1e-30F;

float log_sigmoid(float x) {
  return x > 0 ? -std::log1p(std::exp(-x)) : x - std::log1p(std::exp(x));
}

float logistic(float x) {
  return x > 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

void check_copying(const char* op, bool fits, const Var& weights, const std::string& rest) {
  if (weights.rank() == 3 && fits) return;
  throw ShapeError(
      fmt::format("{}: weights {}, {}: expected [B,T,S] and what goes with it", op, weights.shape().text(), rest));
}

}  // namespace

CopyGate::CopyGate(Parameters& p, const std::string& name, const CopyGateOptions& options) {
  attention::require_sizes(
      name, {{"context_dim", options.context_dim}, {"state_dim", options.state_dim}, {"input_dim", options.input_dim}});
  state = Linear(p, name + ".state", options.state_dim, 1);
  input = Linear(p, name + ".input", options.input_dim, 1, {.bias = false});
  memory = Linear(p, name + ".memory", options.context_dim, 1, {.bias = false});
}

Var CopyGate::rest(const Var& states, const Var& inputs) const {
  return add(state(states), input(inputs));
}

Var CopyGate::operator()(const Var& context, const Var& states, const Var& inputs) const {
  return sigmoid(reshape(add(memory(context), rest(states, inputs)), {context.dim(0), context.dim(1)}));
}

Var CopyGate::logit(const Var& states, const Var& inputs, const Var& weights, const Var& rows,
                    std::span<const Int> lengths) const {
  const Var values = reshape(memory(rows), {weights.dim(0), weights.dim(2)});
  return add_attended(reshape(rest(states, inputs), {weights.dim(0), weights.dim(1)}), weights, values, lengths);
}

Var copy_mixture(const Var& vocabulary, const Var& gate, const Var& weights, const CopySource& source, Int size) {
  if (vocabulary.rank() != 3 || weights.rank() != 3 || !(gate.shape() == Shape{vocabulary.dim(0), vocabulary.dim(1)}) ||
      weights.dim(0) != vocabulary.dim(0) || weights.dim(1) != vocabulary.dim(1)) {
    throw ShapeError(
        fmt::format("copy_mixture: vocabulary {}, gate {}, weights {}: expected [B,T,V], [B,T] and [B,T,S]",
                    vocabulary.shape().text(), gate.shape().text(), weights.shape().text()));
  }
  const Int batch = vocabulary.dim(0), steps = vocabulary.dim(1), known = vocabulary.dim(2), length = weights.dim(2);
  if (static_cast<Int>(source.ids.size()) != batch * length || size < known ||
      !(source.lengths.empty() || static_cast<Int>(source.lengths.size()) == batch)) {
    throw ShapeError(fmt::format("copy_mixture: {} source ids and {} lengths for weights {}, size {} for {} words",
                                 source.ids.size(), source.lengths.size(), weights.shape().text(), size, known));
  }
  if (std::any_of(source.ids.begin(), source.ids.end(), [size](std::int32_t id) { return id >= size; })) {
    throw UsageError(fmt::format("copy_mixture: a source id is not below size {}", size));
  }
  // Ids of positions that do not count are -1 from here on.
  Kept<std::int32_t> ids(source.ids.begin(), source.ids.end());
  for (Int b = 0; b < batch && !source.lengths.empty(); ++b) {
    std::fill(ids.begin() + b * length + source.lengths[static_cast<std::size_t>(b)], ids.begin() + (b + 1) * length,
              -1);
  }
  const Tensor p = vocabulary.value().contiguous(), g = gate.value().contiguous(), w = weights.value().contiguous();
  const Tensor y = Tensor::zeros({batch, steps, size});
  for (Int r = 0; r < batch * steps; ++r) {
    float* row = y.data() + r * size;
    for (Int x = 0; x < known; ++x) row[x] = g.data()[r] * p.data()[r * known + x];
    for (Int j = 0; j < length; ++j) {
      const std::int32_t id = ids[static_cast<std::size_t>(r / steps * length + j)];
      if (id >= 0) row[id] += (1 - g.data()[r]) * w.data()[r * length + j];
    }
  }
  return record(y, {vocabulary, gate, weights},
                [vocabulary, gate, weights, p, g, w, ids, steps, known, length, size](const Tensor& dy) {
                  const Tensor dp = Tensor::empty(p.shape()), dg = Tensor::zeros(g.shape()),
                               dw = Tensor::zeros(w.shape());
                  for (Int r = 0; r < g.size(); ++r) {
                    const float* d = dy.data() + r * size;
                    double sum = 0;
                    for (Int x = 0; x < known; ++x) {
                      dp.data()[r * known + x] = g.data()[r] * d[x];
                      sum += static_cast<double>(d[x]) * p.data()[r * known + x];
                    }
                    for (Int j = 0; j < length; ++j) {
                      const std::int32_t id = ids[static_cast<std::size_t>(r / steps * length + j)];
                      if (id < 0) continue;
                      dw.data()[r * length + j] = (1 - g.data()[r]) * d[id];
                      sum -= static_cast<double>(d[id]) * w.data()[r * length + j];
                    }
                    dg.data()[r] = static_cast<float>(sum);
                  }
                  vocabulary.accumulate(dp);
                  gate.accumulate(dg);
                  weights.accumulate(dw);
                });
}

Var add_attended(const Var& rest, const Var& weights, const Var& values, std::span<const Int> lengths) {
  const bool fits = weights.rank() == 3 && rest.size() == weights.dim(0) * weights.dim(1) &&
                    values.size() == weights.dim(0) * weights.dim(2) &&
                    static_cast<Int>(lengths.size()) == weights.dim(0);
  check_copying(
      "add_attended", fits, weights,
      fmt::format("rest {}, values {}, {} lengths", rest.shape().text(), values.shape().text(), lengths.size()));
  const Int batch = weights.dim(0), steps = weights.dim(1), keys = weights.dim(2);
  const Tensor r = rest.value().contiguous(), w = weights.value().contiguous(), v = values.value().contiguous();
  const Tensor y = Tensor::empty({batch, steps});
  const Kept<Int> counts(lengths.begin(), lengths.end());
  for (Int i = 0; i < batch * steps; ++i) {
    const Int b = i / steps;
    float sum = 0;
    for (Int j = 0; j < counts[static_cast<std::size_t>(b)]; ++j)
      sum += w.data()[i * keys + j] * v.data()[b * keys + j];
    y.data()[i] = r.data()[i] + sum;
  }
  return record(y, {rest, weights, values}, [rest, weights, values, w, v, counts, steps, keys](const Tensor& dy) {
    const Tensor dw = Tensor::zeros(weights.shape()), dv = Tensor::zeros(values.shape());
    for (Int i = 0; i < dy.size(); ++i) {
      const Int b = i / steps;
      const float d = dy.data()[i];
      for (Int j = 0; j < counts[static_cast<std::size_t>(b)]; ++j) {
        dw.data()[i * keys + j] = d * v.data()[b * keys + j];
        dv.data()[b * keys + j] += d * w.data()[i * keys + j];
      }
    }
    rest.accumulate(dy.reshape(rest.shape()));
    weights.accumulate(dw);
    values.accumulate(dv);
  });
}

Mixture copy_shares(const Var& gate, const Var& weights, const CopySource& source,
                    std::span<const std::int32_t> targets) {
  const bool fits = weights.rank() == 3 && gate.size() == weights.dim(0) * weights.dim(1) &&
                    static_cast<Int>(source.ids.size()) == weights.dim(0) * weights.dim(2) &&
                    static_cast<Int>(targets.size()) == gate.size() &&
                    (source.lengths.empty() || static_cast<Int>(source.lengths.size()) == weights.dim(0));
  check_copying("copy_shares", fits, weights,
                fmt::format("gate {}, {} source ids, {} lengths, {} targets", gate.shape().text(), source.ids.size(),
                            source.lengths.size(), targets.size()));
  const Int steps = weights.dim(1), keys = weights.dim(2), rows = gate.size();
  const Tensor g = gate.value().contiguous(), w = weights.value().contiguous();
  const Tensor share = Tensor::empty({rows}), other = Tensor::empty({rows}), mass = Tensor::zeros({rows});
  Kept<std::int32_t> found;  // (row, position) of every match, row after row
  for (Int i = 0; i < rows; ++i) {
    const Int b = i / steps;
    const std::int32_t* ids = source.ids.data() + b * keys;
    const Int length = source.lengths.empty() ? keys : source.lengths[static_cast<std::size_t>(b)];
    bool any = false;
    for (Int j = 0; j < length; ++j) {
      if (ids[j] != targets[static_cast<std::size_t>(i)]) continue;
      mass.data()[i] += w.data()[i * keys + j];
      found.push_back(static_cast<std::int32_t>(i));
      found.push_back(static_cast<std::int32_t>(j));
      any = true;
    }
    mass.data()[i] = std::max(mass.data()[i], kLeastMass);
    share.data()[i] = log_sigmoid(g.data()[i]);
    other.data()[i] =
        any ? log_sigmoid(-g.data()[i]) + std::log(mass.data()[i]) : -std::numeric_limits<float>::infinity();
  }
  Mixture out;
  const Var inputs[] = {gate, weights};
  record({{&out.log_share, share}, {&out.log_other, other}}, inputs,
         [gate, weights, g, mass, found, keys](std::span<const Tensor> grads) {
           const Tensor dg = Tensor::zeros(gate.shape()), dw = Tensor::zeros(weights.shape());
           for (Int i = 0; i < g.size(); ++i) {
             if (grads[0]) dg.data()[i] += grads[0].data()[i] * logistic(-g.data()[i]);
           }
           Int last = -1;
           for (std::size_t k = 0; grads[1] && k < found.size(); k += 2) {
             const Int i = found[k];
             const float d = grads[1].data()[i];
             if (i != last) dg.data()[i] -= d * logistic(g.data()[i]);
             last = i;
             dw.data()[i * keys + found[k + 1]] = d / mass.data()[i];
           }
           gate.accumulate(dg);
           weights.accumulate(dw);
         });
  return out;
}

void mix_copied(float gate, std::span<const float> weights, std::span<const std::int32_t> source, Int vocabulary,
                std::span<float> log_probabilities, std::span<float> mass) {
  const float share = log_sigmoid(gate), rest = log_sigmoid(-gate);
  for (Int x = 0; x < vocabulary; ++x) log_probabilities[static_cast<std::size_t>(x)] += share;
  std::fill(log_probabilities.begin() + vocabulary, log_probabilities.end(), -std::numeric_limits<float>::infinity());
  for (std::size_t j = 0; j < source.size(); ++j) mass[static_cast<std::size_t>(source[j])] += weights[j];
  for (const std::int32_t id : source) {
    float& m = mass[static_cast<std::size_t>(id)];
    if (m <= 0) continue;  // nothing, or counted already
    float& p = log_probabilities[static_cast<std::size_t>(id)];
    const float copied = rest + std::log(m);
    const float most = std::max(p, copied);
    p = most + std::log1p(std::exp(std::min(p, copied) - most));
    m = 0;
  }
}

}  // namespace fovea
