// simpler simple recurrent unit (Kim et al. 2019), element by element over time
//   forward   g_t = s(f_t),  c_t = g_t c_{t-1} + (1 - g_t) x_t,  y_t = max(c_t, 0)      x, f, y [B, T, d]; c_0 = 0
//   backward  D_t = [c_t > 0] dy_t + g_{t+1} D_{t+1},  dx_t = (1 - g_t) D_t,  df_t = D_t (c_{t-1} - x_t) g_t (1 - g_t)
// A sequence may end in padding: no step depends on a later one.
#include <fmt/format.h>

#include "fovea/error.hpp"
#include "fovea/recurrent.hpp"
#include "fovea/threads.hpp"
#include "kernels/kernels.hpp"
#include "kernels/rnn.hpp"

namespace fovea {

Var ssru(const Var& x, const Var& forget) {
  if (x.rank() != 3 || !(x.shape() == forget.shape())) {
    throw ShapeError(
        fmt::format("ssru: {} and {}; both must be [batch, time, width]", x.shape().text(), forget.shape().text()));
  }
  const std::int64_t batch = x.dim(0);
  const std::int64_t time = x.dim(1);
  const std::int64_t width = x.dim(2);
  const bool records = recording({x, forget});
  const Tensor in = x.value().contiguous();
  const Tensor gates = forget.value().clone();  // become s(f)
  const Tensor kept = records ? Tensor::empty(x.shape()) : Tensor();
  const Tensor cell = Tensor::zeros({batch, width});
  const Tensor y = Tensor::empty(x.shape());
  parallel_for(batch, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) {
      for (std::int64_t t = 0; t < time; ++t) {
        const std::int64_t at = (b * time + t) * width;
        kernels::active().rnn->ssru_forward(width, {.x = in.data() + at,
                                                    .gate = gates.data() + at,
                                                    .cell = cell.data() + b * width,
                                                    .kept = records ? kept.data() + at : nullptr,
                                                    .out = y.data() + at});
      }
    }
  });
  return record(y, {x, forget}, [x, forget, in, gates, kept, batch, time, width](const Tensor& dy) {
    const Tensor dx = Tensor::empty(dy.shape());
    const Tensor dgate = Tensor::empty(dy.shape());
    const Tensor carry = Tensor::zeros({batch, width});
    parallel_for(batch, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin; b < end; ++b) {
        for (std::int64_t t = time - 1; t >= 0; --t) {
          const std::int64_t at = (b * time + t) * width;
          kernels::active().rnn->ssru_backward(width, {.x = in.data() + at,
                                                       .gate = gates.data() + at,
                                                       .before = t > 0 ? kept.data() + at - width : nullptr,
                                                       .cell = kept.data() + at,
                                                       .dout = dy.data() + at,
                                                       .carry = carry.data() + b * width,
                                                       .dx = dx.data() + at,
                                                       .dgate = dgate.data() + at});
        }
      }
    });
    if (x.requires_grad()) x.accumulate(dx);
    if (forget.requires_grad()) forget.accumulate(dgate);
  });
}

}  // namespace fovea
