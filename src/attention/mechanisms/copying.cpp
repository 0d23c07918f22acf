// add_attended        forward   y_t = r_t + sum_j w_tj v_j
//                     backward  dr_t = dy_t,  dw_tj = dy_t v_j,  dv_j = sum_t dy_t w_tj
// copy_shares         forward   s_t = log sigma(g_t),  o_t = log sigma(-g_t) + log m_t,  m_t = sum_{j: id_j = target_t}
// w_tj
//                     backward  dg_t = ds_t sigma(-g_t) - do_t sigma(g_t),  dw_tj = do_t / m_t where id_j = target_t
// repeated_attention  forward   y = sum_tj min(w_tj, c_tj),  c_tj = sum_{u < t} w_uj
//                     backward  dw_tj = dy ([w_tj <= c_tj] + number of u > t with c_uj < w_uj)
#include "fovea/attention/copying.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/arena.hpp"
#include "fovea/error.hpp"

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

Mixture copy_shares(const Var& gate, const Var& weights, std::span<const std::int32_t> source,
                    std::span<const Int> lengths, std::span<const std::int32_t> targets) {
  const bool fits = weights.rank() == 3 && gate.size() == weights.dim(0) * weights.dim(1) &&
                    static_cast<Int>(source.size()) == weights.dim(0) * weights.dim(2) &&
                    static_cast<Int>(targets.size()) == gate.size() &&
                    static_cast<Int>(lengths.size()) == weights.dim(0);
  check_copying("copy_shares", fits, weights,
                fmt::format("gate {}, {} source ids, {} lengths, {} targets", gate.shape().text(), source.size(),
                            lengths.size(), targets.size()));
  const Int steps = weights.dim(1), keys = weights.dim(2), rows = gate.size();
  const Tensor g = gate.value().contiguous(), w = weights.value().contiguous();
  const Tensor share = Tensor::empty({rows}), other = Tensor::empty({rows}), mass = Tensor::zeros({rows});
  Kept<std::int32_t> found;  // (row, position) of every match, row after row
  for (Int i = 0; i < rows; ++i) {
    const Int b = i / steps;
    const std::int32_t* ids = source.data() + b * keys;
    bool any = false;
    for (Int j = 0; j < lengths[static_cast<std::size_t>(b)]; ++j) {
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

Var repeated_attention(const Var& weights, std::span<const Int> target_lengths, std::span<const Int> source_lengths) {
  const bool fits = weights.rank() == 3 && static_cast<Int>(target_lengths.size()) == weights.dim(0) &&
                    static_cast<Int>(source_lengths.size()) == weights.dim(0);
  check_copying("repeated_attention", fits, weights,
                fmt::format("{} and {} lengths", target_lengths.size(), source_lengths.size()));
  const Int batch = weights.dim(0), steps = weights.dim(1), keys = weights.dim(2);
  const Tensor w = weights.value().contiguous();
  const Kept<Int> rows(target_lengths.begin(), target_lengths.end()),
      columns(source_lengths.begin(), source_lengths.end());
  Kept<float> covered(static_cast<std::size_t>(keys));
  double total = 0;
  for (Int b = 0; b < batch; ++b) {
    std::fill(covered.begin(), covered.end(), 0.0F);
    for (Int t = 0; t < rows[static_cast<std::size_t>(b)]; ++t) {
      const float* row = w.data() + (b * steps + t) * keys;
      for (Int j = 0; j < columns[static_cast<std::size_t>(b)]; ++j) {
        float& c = covered[static_cast<std::size_t>(j)];
        total += std::min(row[j], c);
        c += row[j];
      }
    }
  }
  return record(Tensor::full({}, static_cast<float>(total)), {weights},
                [weights, w, rows, columns, batch, steps, keys](const Tensor& dy) {
                  const Tensor dw = Tensor::zeros(w.shape());
                  Kept<float> sum(static_cast<std::size_t>(keys)), later(static_cast<std::size_t>(keys));
                  for (Int b = 0; b < batch; ++b) {
                    const Int last = rows[static_cast<std::size_t>(b)];
                    const Int width = columns[static_cast<std::size_t>(b)];
                    std::fill(sum.begin(), sum.end(), 0.0F);
                    std::fill(later.begin(), later.end(), 0.0F);
                    // Forwards what is smaller at each step, as in the forward; backwards how often a later step has
                    // the sum as the smaller one.
                    for (Int t = 0; t < last; ++t) {
                      const float* row = w.data() + (b * steps + t) * keys;
                      float* to = dw.data() + (b * steps + t) * keys;
                      for (Int j = 0; j < width; ++j) {
                        float& c = sum[static_cast<std::size_t>(j)];
                        to[j] = row[j] <= c ? 1.0F : 0.0F;
                        c += row[j];
                      }
                    }
                    for (Int t = last - 1; t >= 0; --t) {
                      float* to = dw.data() + (b * steps + t) * keys;
                      for (Int j = 0; j < width; ++j) {
                        float& count = later[static_cast<std::size_t>(j)];
                        const bool own = to[j] != 0.0F;
                        to[j] = dy.item() * (to[j] + count);
                        if (!own) count += 1;
                      }
                    }
                  }
                  weights.accumulate(dw);
                });
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
