#include "kernels/rnn.hpp"

#include <cmath>

namespace fovea::kernels::generic {
namespace {

float sigmoid(float x) {
  return 1.0F / (1.0F + std::exp(-x));
}

void gru_forward(std::int64_t h, const GruForwardRow& a) {
  const auto input = [&a](std::int64_t at) {
    return a.input[at] + (a.more == nullptr ? 0.0F : a.more[at]) + a.bias[at];
  };
  for (std::int64_t i = 0; i < h; ++i) {
    const float r = sigmoid(input(i) + a.products[i]);
    const float z = sigmoid(input(h + i) + a.products[h + i]);
    const float m = a.products[2 * h + i] + a.state_bias[i];
    const float n = std::tanh(input(2 * h + i) + r * m);
    const float state = n + z * (a.state[i] - n);
    a.gates[i] = r;
    a.gates[h + i] = z;
    a.gates[2 * h + i] = n;
    a.gates[3 * h + i] = m;
    a.state[i] = state;
    if (a.out != nullptr) a.out[i] = state;
  }
}

void gru_backward(std::int64_t h, const GruBackwardRow& a) {
  for (std::int64_t i = 0; i < h; ++i) {
    const float r = a.gates[i];
    const float z = a.gates[h + i];
    const float n = a.gates[2 * h + i];
    const float m = a.gates[3 * h + i];
    const float before = a.before == nullptr ? 0.0F : a.before[i];
    const float d = a.carry[i] + (a.dout == nullptr ? 0.0F : a.dout[i]);
    const float dn = d * (1 - z) * (1 - n * n);
    const float dr = dn * m * r * (1 - r);
    const float dz = d * (before - n) * z * (1 - z);
    const float dm = dn * r;
    a.carry[i] = d * z;
    a.products[i] = a.gates[i] = dr;
    a.products[h + i] = a.gates[h + i] = dz;
    a.gates[2 * h + i] = dn;
    a.products[2 * h + i] = a.gates[3 * h + i] = dm;
    if (a.inputs != nullptr) {
      a.inputs[i] = dr;
      a.inputs[h + i] = dz;
      a.inputs[2 * h + i] = dn;
    }
    a.dbias[i] += dr;
    a.dbias[h + i] += dz;
    a.dbias[2 * h + i] += dn;
    a.dbias[3 * h + i] += dm;
  }
}

void lstm_forward(std::int64_t h, const LstmForwardRow& a) {
  const auto sum = [&a](std::int64_t at) {
    return a.input[at] + (a.more == nullptr ? 0.0F : a.more[at]) + a.bias[at] + a.products[at];
  };
  for (std::int64_t i = 0; i < h; ++i) {
    const float in = sigmoid(sum(i));
    const float forget = sigmoid(sum(h + i));
    const float g = std::tanh(sum(2 * h + i));
    const float o = sigmoid(sum(3 * h + i));
    const float cell = forget * a.cell[i] + in * g;
    const float state = o * std::tanh(cell);
    a.gates[i] = in;
    a.gates[h + i] = forget;
    a.gates[2 * h + i] = g;
    a.gates[3 * h + i] = o;
    a.cell[i] = cell;
    a.state[i] = state;
    if (a.cell_out != nullptr) a.cell_out[i] = cell;
    if (a.out != nullptr) a.out[i] = state;
  }
}

void lstm_backward(std::int64_t h, const LstmBackwardRow& a) {
  for (std::int64_t i = 0; i < h; ++i) {
    const float in = a.gates[i];
    const float forget = a.gates[h + i];
    const float g = a.gates[2 * h + i];
    const float o = a.gates[3 * h + i];
    const float before = a.cell_before == nullptr ? 0.0F : a.cell_before[i];
    const float t = std::tanh(a.cell[i]);
    const float d = a.carry[i] + (a.dout == nullptr ? 0.0F : a.dout[i]);
    const float e = a.carry_cell[i] + d * o * (1 - t * t);
    a.carry_cell[i] = e * forget;
    const float grads[4] = {e * g * in * (1 - in), e * before * forget * (1 - forget), e * in * (1 - g * g),
                            d * t * o * (1 - o)};
    for (std::int64_t k = 0; k < 4; ++k) {
      a.gates[k * h + i] = a.products[k * h + i] = grads[k];
      a.dbias[k * h + i] += grads[k];
    }
  }
}

void ssru_forward(std::int64_t h, const SsruForwardRow& a) {
  for (std::int64_t i = 0; i < h; ++i) {
    const float g = sigmoid(a.gate[i]);
    const float cell = a.x[i] + g * (a.cell[i] - a.x[i]);
    a.gate[i] = g;
    a.cell[i] = cell;
    if (a.kept != nullptr) a.kept[i] = cell;
    a.out[i] = cell > 0 ? cell : 0.0F;
  }
}

void ssru_backward(std::int64_t h, const SsruBackwardRow& a) {
  for (std::int64_t i = 0; i < h; ++i) {
    const float g = a.gate[i];
    const float before = a.before == nullptr ? 0.0F : a.before[i];
    const float d = a.carry[i] + (a.cell[i] > 0 ? a.dout[i] : 0.0F);
    a.dgate[i] = d * (before - a.x[i]) * g * (1 - g);
    a.dx[i] = d * (1 - g);
    a.carry[i] = d * g;
  }
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

}  // namespace fovea::kernels::generic
