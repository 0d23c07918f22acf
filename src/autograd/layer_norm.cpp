#include "autograd/layer_norm.hpp"

#include <fmt/format.h>

#include <optional>

#include "autograd/chunk_sums.hpp"
#include "autograd/dropout.hpp"
#include "autograd/elementwise.hpp"
#include "fovea/error.hpp"
#include "kernels/kernels.hpp"
#include "kernels/rows.hpp"

namespace fovea {
namespace {

const float* data_or_null(const Var& v) {
  return v ? v.value().data() : nullptr;
}
const float* at(const Tensor& t, std::int64_t i) {
  return t ? t.data() + i : nullptr;
}

}  // namespace

void check_layer_norm(const char* op, const Var& x, const Var& gain, const Var& bias) {
  if (x.rank() == 0) throw ShapeError(fmt::format("{}: a value of shape [] has no last axis", op));
  if (static_cast<bool>(gain) != static_cast<bool>(bias)) {
    throw ShapeError(fmt::format("{}: gain and bias must both be given or both be empty", op));
  }
  if (!gain) return;
  for (const Var& v : {gain, bias}) {
    if (!(v.shape() == Shape{x.dim(-1)}) || !v.value().is_contiguous()) {
      throw ShapeError(
          fmt::format("{}: gain and bias of shape {} for a value of shape {}", op, v.shape().text(), x.shape().text()));
    }
  }
}

Normalised normalise(const NormaliseCall& call) {
  const std::int64_t width = call.x.dim(-1);
  const std::int64_t rows = width == 0 ? 0 : call.x.size() / width;
  Normalised kept{call.residual ? call.sum : call.x, Tensor::empty({rows}), Tensor::empty({rows})};
  by_rows(rows, width, [&](std::int64_t first, std::int64_t count) {
    const std::int64_t i = first * width;
    kernels::active().rows->layer_norm({.rows = count,
                                        .width = width,
                                        .epsilon = call.epsilon,
                                        .x = call.x.data() + i,
                                        .gamma = data_or_null(call.gain),
                                        .beta = data_or_null(call.bias),
                                        .y = call.y.data() + i,
                                        .mean = kept.mean.data() + first,
                                        .rstd = kept.rstd.data() + first,
                                        .residual = at(call.residual, i),
                                        .dropout = from_value(call.dropout, i),
                                        .h = call.sum ? call.sum.data() + i : nullptr});
  });
  return kept;
}

void normalise_backward(const Normalised& kept, const Var& gain, const Var& bias, const Tensor& dy,
                        const GradTarget& dx) {
  const std::int64_t rows = kept.mean.size();
  const std::int64_t width = rows == 0 ? 0 : dy.size() / rows;
  std::optional<ChunkSums> dgain;
  std::optional<ChunkSums> dbias;
  if (gain.requires_grad()) dgain.emplace(rows, width);
  if (bias.requires_grad()) dbias.emplace(rows, width);
  by_rows(rows, width, [&](std::int64_t first, std::int64_t count) {
    const std::int64_t i = first * width;
    kernels::active().rows->layer_norm_backward({.rows = count,
                                                 .width = width,
                                                 .x = kept.x.data() + i,
                                                 .gamma = data_or_null(gain),
                                                 .mean = kept.mean.data() + first,
                                                 .rstd = kept.rstd.data() + first,
                                                 .dy = dy.data() + i,
                                                 .dx = dx.tensor.data() + i,
                                                 .add = dx.add,
                                                 .dgamma = dgain ? dgain->of(first) : nullptr,
                                                 .dbeta = dbias ? dbias->of(first) : nullptr});
  });
  if (dgain && rows > 0) dgain->add_to(gain.grad_target());
  if (dbias && rows > 0) dbias->add_to(bias.grad_target());
}

}  // namespace fovea
