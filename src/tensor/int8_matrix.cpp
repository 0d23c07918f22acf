#include <algorithm>
#include <vector>

#include "fovea/packed_weight.hpp"
#include "fovea/threads.hpp"
#include "kernels/int8_weights.hpp"

namespace fovea {

Int8Matrix Int8Matrix::of(const Tensor& w, MatrixLayout layout) {
  const Tensor values = w.contiguous();
  const std::int64_t rows = w.dim(0);
  const std::int64_t columns = w.dim(1);
  const bool by_columns = layout == MatrixLayout::in_out;
  const auto q = std::make_shared<std::vector<std::int8_t>>(static_cast<std::size_t>(w.size()));
  const Tensor scale = by_columns ? Tensor::empty({1, columns}) : Tensor::empty({rows, 1});
  const kernels::Int8Source from = by_columns ? kernels::Int8Source{rows, columns, values.data(), columns, 1}
                                              : kernels::Int8Source{columns, rows, values.data(), 1, columns};
  kernels::int8_scales(from, scale.data());
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* x = values.data() + i * columns;
    std::int8_t* to = q->data() + i * columns;
    if (by_columns) {
      for (std::int64_t j = 0; j < columns; ++j) kernels::int8_round(1, x + j, scale.data()[j], to + j);
    } else {
      kernels::int8_round(columns, x, scale.data()[i], to);
    }
  }
  return {rows, columns, *q, scale, q};
}

Tensor Int8Matrix::values() const {
  const Tensor out = Tensor::empty(shape());
  const bool by_columns = layout() == MatrixLayout::in_out;
  parallel_for(rows, std::max<std::int64_t>(1, 65536 / std::max<std::int64_t>(1, columns)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   const std::int8_t* from = q.data() + i * columns;
                   float* y = out.data() + i * columns;
                   if (by_columns) {
                     kernels::int8_widen(columns, from, scale.data(), y);
                   } else {
                     kernels::int8_widen(columns, from, scale.data()[i], y);
                   }
                 }
               });
  return out;
}

}  // namespace fovea
