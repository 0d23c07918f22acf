// rows of length 1
//   forward   y = x / n,  n = max(|x|, epsilon)
//   backward  dx = (dy - y (y . dy)) / n where |x| > epsilon, else dy / epsilon
#include <algorithm>
#include <cmath>

#include "attention/project.hpp"
#include "fovea/threads.hpp"

namespace fovea::attention {

using Int = std::int64_t;

Var unit_rows(const Var& x, float epsilon, Int heads) {
  const Tensor in = x.value().contiguous();
  const Int d = std::max<Int>(1, x.dim(-1) / heads);
  const Int rows = in.size() / d;
  const Tensor y = Tensor::empty(x.shape());
  const Tensor length = Tensor::empty({rows});
  parallel_for(rows, 256, [&](Int begin, Int end) {
    for (Int r = begin; r < end; ++r) {
      double squares = 0;
      for (Int i = r * d; i < (r + 1) * d; ++i) squares += static_cast<double>(in.data()[i]) * in.data()[i];
      length.data()[r] = static_cast<float>(std::sqrt(squares));
      const float n = std::max(length.data()[r], epsilon);
      for (Int i = r * d; i < (r + 1) * d; ++i) y.data()[i] = in.data()[i] / n;
    }
  });
  return record(y, {x}, [x, y, length, epsilon, d, rows](const Tensor& dy) {
    const GradTarget dx = x.grad_target();
    parallel_for(rows, 256, [&](Int begin, Int end) {
      for (Int r = begin; r < end; ++r) {
        const float* g = dy.data() + r * d;
        const float* u = y.data() + r * d;
        float* to = dx.tensor.data() + r * d;
        if (!dx.add) std::fill_n(to, d, 0.0F);
        if (std::all_of(g, g + d, [](float v) { return v == 0.0F; })) continue;  // also where x is NaN
        double along = 0;
        const bool clipped = !(length.data()[r] > epsilon);
        for (Int i = 0; i < d && !clipped; ++i) along += static_cast<double>(u[i]) * g[i];
        const float n = std::max(length.data()[r], epsilon);
        for (Int i = 0; i < d; ++i) to[i] += (g[i] - u[i] * static_cast<float>(along)) / n;
      }
    });
  });
}

}  // namespace fovea::attention
