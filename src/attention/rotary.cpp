// rotary positions
//   forward   (y_a, y_b) = (x_a cos - x_b sin, x_a sin + x_b cos) for each pair of features, angle t base^(-2p / n)
//   backward  the same with the angle negated
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/attention/positions.hpp"
#include "fovea/error.hpp"
#include "fovea/threads.hpp"

namespace fovea {
namespace {

using Int = std::int64_t;

// cos and sin of every angle: [T, n / 2, 2]. Angles are reduced in double: far positions keep their precision.
Tensor angles(Int first, Int rows, Int n, float base) {
  Tensor table = Tensor::empty({rows, n / 2, 2});
  for (Int p = 0; p < n / 2; ++p) {
    const double speed = std::pow(static_cast<double>(base), -2.0 * static_cast<double>(p) / static_cast<double>(n));
    for (Int t = 0; t < rows; ++t) {
      const double angle = static_cast<double>(first + t) * speed;
      table.data()[(t * (n / 2) + p) * 2] = static_cast<float>(std::cos(angle));
      table.data()[(t * (n / 2) + p) * 2 + 1] = static_cast<float>(std::sin(angle));
    }
  }
  return table;
}

struct Turn {
  Int rows, heads, d, n;  // rows T per sequence, heads side by side, width of a head, features that turn
  bool interleaved;

  // to (+)= x turned; sign -1 turns back.
  void operator()(const Tensor& x, const Tensor& table, float sign, const Tensor& to, bool add) const {
    const Int half = n / 2;
    parallel_for(d == 0 ? 0 : x.size() / (heads * d), 64, [&](Int begin, Int end) {
      for (Int r = begin; r < end; ++r) {
        const float* angle = table.data() + r % rows * n;
        for (Int h = 0; h < heads; ++h) {
          const float* in = x.data() + (r * heads + h) * d;
          float* out = to.data() + (r * heads + h) * d;
          if (!add) std::fill_n(out, d, 0.0F);
          for (Int p = 0; p < half; ++p) {
            const Int a = interleaved ? 2 * p : p;
            const Int b = interleaved ? 2 * p + 1 : p + half;
            const float c = angle[2 * p], s = sign * angle[2 * p + 1];
            out[a] += in[a] * c - in[b] * s;
            out[b] += in[a] * s + in[b] * c;
          }
          for (Int i = n; i < d; ++i) out[i] += in[i];
        }
      }
    });
  }
};

}  // namespace

Var rotary(const Var& x, const Rotary& how, Int first, Int heads) {
  if (x.rank() < 2 || heads < 1 || x.dim(-1) % heads != 0) {
    throw ShapeError(fmt::format("rotary: {} is not [..., rows, width] of {} heads", x.shape().text(), heads));
  }
  const Int d = x.dim(-1) / heads;
  const Int n = how.dims == 0 ? d : how.dims;
  if (n < 2 || n > d || n % 2 != 0) {
    throw ShapeError(fmt::format("rotary: {} features of width {} cannot turn in pairs, {}", n, d, x.shape().text()));
  }
  if (!(how.base > 0)) throw UsageError(fmt::format("rotary: base {}: expected a number above 0", how.base));
  const Turn turn{std::max<Int>(1, x.dim(-2)), heads, d, n, how.interleaved};
  const Tensor table = angles(first, turn.rows, n, how.base);
  const Tensor y = Tensor::empty(x.shape());
  turn(x.value().contiguous(), table, 1.0F, y, false);
  return record(y, {x}, [x, turn, table](const Tensor& dy) {
    const GradTarget dx = x.grad_target();
    turn(dy, table, -1.0F, dx.tensor, dx.add);
  });
}

}  // namespace fovea
