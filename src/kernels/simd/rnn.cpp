#include "kernels/rnn.hpp"

#include <hwy/contrib/math/math-inl.h>
#include "kernels/simd/rows-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

HWY_INLINE Vec tanh(Vec x) {
  return hn::Tanh(Floats(), x);
}
HWY_INLINE Vec sigmoid(Vec x) {
  x = hn::Max(hn::Set(Floats(), -80.0F), x);
  const Vec one = hn::Set(Floats(), 1.0F);
  return hn::Div(one, hn::Add(one, hn::Exp(Floats(), hn::Neg(x))));
}
/// y (1 - y): the derivative of the sigmoid by its value.
HWY_INLINE Vec sigmoid_slope(Vec y) {
  return hn::NegMulAdd(y, y, y);
}
/// 1 - y^2: that of tanh.
HWY_INLINE Vec tanh_slope(Vec y) {
  return hn::NegMulAdd(y, y, hn::Set(Floats(), 1.0F));
}

void gru_forward(std::int64_t h, const GruForwardRow& row) {
  const GruForwardRow a = row;
  for_lanes(h, [&](auto lanes, std::int64_t i) HWY_ATTR {
    const auto sum = [&](std::int64_t at) HWY_ATTR {
      return hn::Add(hn::Add(lanes.load(a.gates + at), lanes.load(a.bias + at)), lanes.load(a.products + at));
    };
    const Vec r = sigmoid(sum(i));
    const Vec z = sigmoid(sum(h + i));
    const Vec m = hn::Add(lanes.load(a.products + 2 * h + i), lanes.load(a.state_bias + i));
    const Vec n = tanh(hn::MulAdd(r, m, hn::Add(lanes.load(a.gates + 2 * h + i), lanes.load(a.bias + 2 * h + i))));
    const Vec state = hn::MulAdd(z, hn::Sub(lanes.load(a.state + i), n), n);
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
  const Vec zero = hn::Zero(Floats());
  for_lanes(h, [&](auto lanes, std::int64_t i) HWY_ATTR {
    const auto put = [&](Vec v, std::int64_t at) HWY_ATTR {
      lanes.store(v, a.gates + at);
      lanes.store(hn::Add(lanes.load(a.dbias + at), v), a.dbias + at);
    };
    const Vec r = lanes.load(a.gates + i);
    const Vec z = lanes.load(a.gates + h + i);
    const Vec n = lanes.load(a.gates + 2 * h + i);
    const Vec m = lanes.load(a.gates + 3 * h + i);
    const Vec before = a.before == nullptr ? zero : lanes.load(a.before + i);
    Vec d = lanes.load(a.carry + i);
    if (a.dout != nullptr) d = hn::Add(d, lanes.load(a.dout + i));
    const Vec kept = hn::Mul(d, z);
    const Vec dn = hn::Mul(hn::Sub(d, kept), tanh_slope(n));
    const Vec dr = hn::Mul(hn::Mul(dn, m), sigmoid_slope(r));
    const Vec dz = hn::Mul(hn::Mul(d, hn::Sub(before, n)), sigmoid_slope(z));
    const Vec dm = hn::Mul(dn, r);
    lanes.store(kept, a.carry + i);
    put(dr, i);
    put(dz, h + i);
    put(dn, 2 * h + i);
    put(dm, 3 * h + i);
    lanes.store(dr, a.products + i);
    lanes.store(dz, a.products + h + i);
    lanes.store(dm, a.products + 2 * h + i);
  });
}

void lstm_forward(std::int64_t h, const LstmForwardRow& row) {
  const LstmForwardRow a = row;
  for_lanes(h, [&](auto lanes, std::int64_t i) HWY_ATTR {
    const auto sum = [&](std::int64_t at) HWY_ATTR {
      return hn::Add(hn::Add(lanes.load(a.gates + at), lanes.load(a.bias + at)), lanes.load(a.products + at));
    };
    const Vec in = sigmoid(sum(i));
    const Vec forget = sigmoid(sum(h + i));
    const Vec g = tanh(sum(2 * h + i));
    const Vec o = sigmoid(sum(3 * h + i));
    const Vec cell = hn::MulAdd(forget, lanes.load(a.cell + i), hn::Mul(in, g));
    const Vec state = hn::Mul(o, tanh(cell));
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
  const Vec zero = hn::Zero(Floats());
  for_lanes(h, [&](auto lanes, std::int64_t i) HWY_ATTR {
    const auto put = [&](Vec v, std::int64_t at) HWY_ATTR {
      lanes.store(v, a.gates + at);
      lanes.store(v, a.products + at);
      lanes.store(hn::Add(lanes.load(a.dbias + at), v), a.dbias + at);
    };
    const Vec in = lanes.load(a.gates + i);
    const Vec forget = lanes.load(a.gates + h + i);
    const Vec g = lanes.load(a.gates + 2 * h + i);
    const Vec o = lanes.load(a.gates + 3 * h + i);
    const Vec before = a.cell_before == nullptr ? zero : lanes.load(a.cell_before + i);
    const Vec t = tanh(lanes.load(a.cell + i));
    Vec d = lanes.load(a.carry + i);
    if (a.dout != nullptr) d = hn::Add(d, lanes.load(a.dout + i));
    const Vec e = hn::MulAdd(hn::Mul(d, o), tanh_slope(t), lanes.load(a.carry_cell + i));
    lanes.store(hn::Mul(e, forget), a.carry_cell + i);
    put(hn::Mul(hn::Mul(e, g), sigmoid_slope(in)), i);
    put(hn::Mul(hn::Mul(e, before), sigmoid_slope(forget)), h + i);
    put(hn::Mul(hn::Mul(e, in), tanh_slope(g)), 2 * h + i);
    put(hn::Mul(hn::Mul(d, t), sigmoid_slope(o)), 3 * h + i);
  });
}

}  // namespace

extern const RnnKernels rnn;
const RnnKernels rnn = {
    .gru_forward = gru_forward,
    .gru_backward = gru_backward,
    .lstm_forward = lstm_forward,
    .lstm_backward = lstm_backward,
};

}  // namespace fovea::kernels::FOVEA_ISA
