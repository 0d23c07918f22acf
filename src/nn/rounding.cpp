#include "nn/rounding.hpp"

#include <fmt/format.h>

#include <cmath>

#include "fovea/error.hpp"
#include "kernels/int8_weights.hpp"

namespace fovea {

Storage stored_as(const Parameters::Entry& entry, Storage storage) {
  if (entry.weight.rank() < 2) return Storage::f32;
  return entry.weight.rank() > 2 && storage == Storage::int8 ? Storage::f16 : storage;
}

void check_fits(const Parameters::Entry& entry, Storage storage) {
  constexpr float kLargestHalf = 65504;
  const Tensor values = entry.weight.value().contiguous();
  for (const float v : values.values()) {
    if (std::isfinite(v) && (storage != Storage::f16 || std::abs(v) <= kLargestHalf)) continue;
    throw Error(fmt::format("weight {}: {} does not fit {}", entry.name, v, name_of(storage)));
  }
}

Int8Weight to_int8(const Parameters::Entry& entry) {
  const Tensor w = entry.weight.value().contiguous();
  const std::int64_t rows = w.dim(0);
  const std::int64_t columns = w.dim(1);
  const bool by_columns = entry.layout == MatrixLayout::in_out;
  Int8Weight out{std::vector<std::int8_t>(static_cast<std::size_t>(w.size())),
                 by_columns ? Tensor::empty({1, columns}) : Tensor::empty({rows, 1})};
  float* scale = out.scale.data();
  if (!by_columns) {
    kernels::int8_scales({columns, rows, w.data(), 1, columns}, scale);
    for (std::int64_t i = 0; i < rows; ++i) {
      kernels::int8_round(columns, w.data() + i * columns, scale[i], out.q.data() + i * columns);
    }
    return out;
  }
  kernels::int8_scales({rows, columns, w.data(), columns, 1}, scale);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      kernels::int8_round(1, w.data() + i * columns + j, scale[j], out.q.data() + i * columns + j);
    }
  }
  return out;
}

Tensor from_int8(const Shape& shape, const std::int8_t* q, const Tensor& scale) {
  Tensor out = Tensor::empty(shape);
  const std::int64_t columns = shape[1];
  const bool by_columns = scale.dim(0) == 1 && scale.dim(1) == columns;
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    float* y = out.data() + i * columns;
    const std::int8_t* from = q + i * columns;
    if (by_columns) {
      for (std::int64_t j = 0; j < columns; ++j) y[j] = static_cast<float>(from[j]) * scale.data()[j];
    } else {
      const float by = scale.data()[i];
      for (std::int64_t j = 0; j < columns; ++j) y[j] = static_cast<float>(from[j]) * by;
    }
  }
  return out;
}

}  // namespace fovea
