#include "autograd/chunk_sums.hpp"

#include "autograd/elementwise.hpp"
#include "kernels/kernels.hpp"
#include "kernels/rows.hpp"

namespace fovea {

ChunkSums::ChunkSums(std::int64_t rows, std::int64_t width)
    : rows_per_chunk_(rows_per_chunk(width)),
      sums_(Tensor::zeros({(rows + rows_per_chunk_ - 1) / rows_per_chunk_, width})) {}

float* ChunkSums::of(std::int64_t first) const {
  return sums_.data() + first / rows_per_chunk_ * sums_.dim(1);
}

void ChunkSums::add_to(const GradTarget& target) const {
  if (!target.add) target.tensor.fill(0.0F);
  kernels::active().rows->column_sums(sums_.data(), target.tensor.data(), sums_.dim(0), sums_.dim(1));
}

void add_column_sums(const Tensor& x, std::int64_t rows, std::int64_t width, const GradTarget& target) {
  const auto kernel = kernels::active().rows->column_sums;
  const ChunkSums sums(rows, width);
  by_rows(rows, width, [&](std::int64_t first, std::int64_t count) {
    kernel(x.data() + first * width, sums.of(first), count, width);
  });
  sums.add_to(target);
}

}  // namespace fovea
