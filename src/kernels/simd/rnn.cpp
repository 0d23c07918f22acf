#include "kernels/rnn.hpp"

#include "kernels/simd/rows-inl.hpp"
#include "kernels/simd/vector_math-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

HWY_INLINE Floats tanh(Floats x) {
  return Tanh(F(), x);
}
HWY_INLINE Floats sigmoid(Floats x) {
  return Sigmoid(F(), x);
}
/// y (1 - y): the derivative of the sigmoid by its value.
HWY_INLINE Floats sigmoid_slope(Floats y) {
  return hn::NegMulAdd(y, y, y);
}
/// 1 - y^2: that of tanh.
HWY_INLINE Floats tanh_slope(Floats y) {
  return hn::NegMulAdd(y, y, hn::Set(F(), 1.0F));
}

void gru_forward(std::int64_t h, const GruForwardRow& row) {
  const GruForwardRow a = row;
  for_lanes(h, [&](auto lanes, std::int64_t i) HWY_ATTR {
    const auto input = [&](std::int64_t at) HWY_ATTR {
      const Floats x = lanes.load(a.input + at);
      return hn::Add(a.more == nullptr ? x : hn::Add(x, lanes.load(a.more + at)), lanes.load(a.bias + at));
    };
    const auto sum = [&](std::int64_t at) HWY_ATTR { return hn::Add(input(at), lanes.load(a.products + at)); };
    const Floats r = sigmoid(sum(i));
    const Floats z = sigmoid(sum(h + i));
    const Floats m = hn::Add(lanes.load(a.products + 2 * h + i), lanes.load(a.state_bias + i));
    const Floats n = tanh(hn::MulAdd(r, m, input(2 * h + i)));
    const Floats state = hn::MulAdd(z, hn::Sub(lanes.load(a.state + i), n), n);
    lanes.store(r, a.gates + i);
    lanes.store(z, a.gates + h + i);
    lanes.store(n, a.gates + 2 * h + i);
    lanes.store(m, a.gates + 3 * h + i);
    lanes.store(state, a.state + i);
    if (a.out != nullptr) lanes.store(state, a.out + i);
  });
}

void gru_backward(std::int64_t h, const GruBackwardRow& row) {
  const GruBackwardRow a = row;
  const Floats zero = hn::Zero(F());
  for_lanes(h, [&](auto lanes, std::int64_t i) HWY_ATTR {
    const auto put = [&](Floats v, std::int64_t at) HWY_ATTR {
      lanes.store(v, a.gates + at);
      lanes.store(hn::Add(lanes.load(a.dbias + at), v), a.dbias + at);
    };
    const Floats r = lanes.load(a.gates + i);
    const Floats z = lanes.load(a.gates + h + i);
    const Floats n = lanes.load(a.gates + 2 * h + i);
    const Floats m = lanes.load(a.gates + 3 * h + i);
    const Floats before = a.before == nullptr ? zero : lanes.load(a.before + i);
    Floats d = lanes.load(a.carry + i);
    if (a.dout != nullptr) d = hn::Add(d, lanes.load(a.dout + i));
    const Floats kept = hn::Mul(d, z);
    const Floats dn = hn::Mul(hn::Sub(d, kept), tanh_slope(n));
    const Floats dr = hn::Mul(hn::Mul(dn, m), sigmoid_slope(r));
    const Floats dz = hn::Mul(hn::Mul(d, hn::Sub(before, n)), sigmoid_slope(z));
    const Floats dm = hn::Mul(dn, r);
    lanes.store(kept, a.carry + i);
    put(dr, i);
    put(dz, h + i);
    put(dn, 2 * h + i);
    put(dm, 3 * h + i);
    lanes.store(dr, a.products + i);
    lanes.store(dz, a.products + h + i);
    lanes.store(dm, a.products + 2 * h + i);
    if (a.inputs != nullptr) {
      lanes.store(dr, a.inputs + i);
      lanes.store(dz, a.inputs + h + i);
      lanes.store(dn, a.inputs + 2 * h + i);
    }
  });
}

void lstm_forward(std::int64_t h, const LstmForwardRow& row) {
  const LstmForwardRow a = row;
  for_lanes(h, [&](auto lanes, std::int64_t i) HWY_ATTR {
    const auto sum = [&](std::int64_t at) HWY_ATTR {
      const Floats x = lanes.load(a.input + at);
      return hn::Add(hn::Add(a.more == nullptr ? x : hn::Add(x, lanes.load(a.more + at)), lanes.load(a.bias + at)),
                     lanes.load(a.products + at));
    };
    const Floats in = sigmoid(sum(i));
    const Floats forget = sigmoid(sum(h + i));
    const Floats g = tanh(sum(2 * h + i));
    const Floats o = sigmoid(sum(3 * h + i));
    const Floats cell = hn::MulAdd(forget, lanes.load(a.cell + i), hn::Mul(in, g));
    const Floats state = hn::Mul(o, tanh(cell));
    lanes.store(in, a.gates + i);
    lanes.store(forget, a.gates + h + i);
    lanes.store(g, a.gates + 2 * h + i);
    lanes.store(o, a.gates + 3 * h + i);
    lanes.store(cell, a.cell + i);
    lanes.store(state, a.state + i);
    if (a.cell_out != nullptr) lanes.store(cell, a.cell_out + i);
    if (a.out != nullptr) lanes.store(state, a.out + i);
  });
}

void lstm_backward(std::int64_t h, const LstmBackwardRow& row) {
  const LstmBackwardRow a = row;
  const Floats zero = hn::Zero(F());
  for_lanes(h, [&](auto lanes, std::int64_t i) HWY_ATTR {
    const auto put = [&](Floats v, std::int64_t at) HWY_ATTR {
      lanes.store(v, a.gates + at);
      lanes.store(v, a.products + at);
      lanes.store(hn::Add(lanes.load(a.dbias + at), v), a.dbias + at);
    };
    const Floats in = lanes.load(a.gates + i);
    const Floats forget = lanes.load(a.gates + h + i);
    const Floats g = lanes.load(a.gates + 2 * h + i);
    const Floats o = lanes.load(a.gates + 3 * h + i);
    const Floats before = a.cell_before == nullptr ? zero : lanes.load(a.cell_before + i);
    const Floats t = tanh(lanes.load(a.cell + i));
    Floats d = lanes.load(a.carry + i);
    if (a.dout != nullptr) d = hn::Add(d, lanes.load(a.dout + i));
    const Floats e = hn::MulAdd(hn::Mul(d, o), tanh_slope(t), lanes.load(a.carry_cell + i));
    lanes.store(hn::Mul(e, forget), a.carry_cell + i);
    put(hn::Mul(hn::Mul(e, g), sigmoid_slope(in)), i);
    put(hn::Mul(hn::Mul(e, before), sigmoid_slope(forget)), h + i);
    put(hn::Mul(hn::Mul(e, in), tanh_slope(g)), 2 * h + i);
    put(hn::Mul(hn::Mul(d, t), sigmoid_slope(o)), 3 * h + i);
  });
}

void ssru_forward(std::int64_t h, const SsruForwardRow& row) {
  const SsruForwardRow a = row;
  for_lanes(h, [&](auto lanes, std::int64_t i) HWY_ATTR {
    const Floats g = sigmoid(lanes.load(a.gate + i));
    const Floats x = lanes.load(a.x + i);
    const Floats cell = hn::MulAdd(g, hn::Sub(lanes.load(a.cell + i), x), x);
    lanes.store(g, a.gate + i);
    lanes.store(cell, a.cell + i);
    if (a.kept != nullptr) lanes.store(cell, a.kept + i);
    lanes.store(hn::IfThenElseZero(hn::Gt(cell, hn::Zero(F())), cell), a.out + i);
  });
}

void ssru_backward(std::int64_t h, const SsruBackwardRow& row) {
  const SsruBackwardRow a = row;
  const Floats zero = hn::Zero(F());
  for_lanes(h, [&](auto lanes, std::int64_t i) HWY_ATTR {
    const Floats g = lanes.load(a.gate + i);
    const Floats before = a.before == nullptr ? zero : lanes.load(a.before + i);
    const Floats dout = hn::IfThenElseZero(hn::Gt(lanes.load(a.cell + i), zero), lanes.load(a.dout + i));
    const Floats d = hn::Add(lanes.load(a.carry + i), dout);
    const Floats kept = hn::Mul(d, g);
    lanes.store(hn::Mul(hn::Mul(d, hn::Sub(before, lanes.load(a.x + i))), sigmoid_slope(g)), a.dgate + i);
    lanes.store(hn::Sub(d, kept), a.dx + i);
    lanes.store(kept, a.carry + i);
  });
}

}  // namespace

extern const RnnKernels rnn;
const RnnKernels rnn = {
    .gru_forward = gru_forward,
    .gru_backward = gru_backward,
    .lstm_forward = lstm_forward,
    .lstm_backward = lstm_backward,
    .ssru_forward = ssru_forward,
    .ssru_backward = ssru_backward,
};

}  // namespace fovea::kernels::FOVEA_ISA
