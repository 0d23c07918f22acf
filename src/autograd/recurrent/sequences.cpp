#include "autograd/recurrent/sequences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "fovea/error.hpp"
#include "fovea/threads.hpp"

namespace fovea {
namespace {

// A chunk should fill the rows of many register tiles at each step, yet leave several chunks to spread.
constexpr std::int64_t kMostPerChunk = 96;
constexpr std::int64_t kRowsPerCopy = 256;

}  // namespace

Sequences::Sequences(const char* op, std::int64_t batch, std::int64_t steps, std::span<const std::int64_t> lengths,
                     bool time_major)
    : batch_(batch), steps_(steps), time_major_(time_major) {
  const auto count = static_cast<std::size_t>(batch);
  if (!lengths.empty() && lengths.size() != count) {
    throw ShapeError(fmt::format("{}: {} lengths for a batch of {}", op, lengths.size(), batch));
  }
  length_.assign(count, steps);
  if (!lengths.empty()) std::copy(lengths.begin(), lengths.end(), length_.begin());
  start_.resize(count);
  for (std::size_t b = 0; b < count; ++b) {
    if (length_[b] < 0 || length_[b] > steps) {
      throw ShapeError(fmt::format("{}: length {} of sequence {} is not in 0 to {}", op, length_[b], b, steps));
    }
    start_[b] = rows_;
    rows_ += length_[b];
  }
  const std::int64_t per_thread = std::max<std::int64_t>(1, (batch + free_threads() - 1) / free_threads());
  const std::int64_t pieces = (per_thread + kMostPerChunk - 1) / kMostPerChunk;
  per_chunk_ = (per_thread + pieces - 1) / pieces;
  chunks_ = (batch + per_chunk_ - 1) / per_chunk_;
  order_.resize(count);
  std::iota(order_.begin(), order_.end(), 0);
  for (std::int64_t c = 0; c < chunks_; ++c) {
    const auto first = order_.begin() + c * per_chunk_;
    const auto end = order_.begin() + std::min(batch, (c + 1) * per_chunk_);
    // By length, then by place: a total order, so the sort (which, unlike stable_sort, takes no memory) is stable.
    std::sort(first, end, [this](std::int32_t a, std::int32_t b) {
      const auto la = length(a);
      const auto lb = length(b);
      return la != lb ? la > lb : a < b;
    });
  }
}

std::span<const std::int32_t> Sequences::chunk(std::int64_t c) const {
  const std::int64_t first = c * per_chunk_;
  return std::span(order_).subspan(static_cast<std::size_t>(first),
                                   static_cast<std::size_t>(std::min(per_chunk_, batch_ - first)));
}

Tensor Sequences::compact(const Tensor& padded) const {
  if (dense()) return padded;
  const std::int64_t width = padded.dim(-1);
  Tensor result = Tensor::empty({rows_, width});
  const float* from = padded.data();
  float* to = result.data();
  parallel_for(batch_, std::max<std::int64_t>(1, kRowsPerCopy / std::max<std::int64_t>(1, steps_)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t b = begin; b < end; ++b) {
                   for (std::int64_t t = 0; t < length(b); ++t) {
                     std::memcpy(to + row(b, t) * width, from + user_row(b, t) * width,
                                 static_cast<std::size_t>(width) * sizeof(float));
                   }
                 }
               });
  return result;
}

void Sequences::expand(const Tensor& compact, const Tensor& padded, bool add) const {
  const std::int64_t width = padded.dim(-1);
  const float* from = compact.data();
  float* to = padded.data();
  parallel_for(batch_, std::max<std::int64_t>(1, kRowsPerCopy / std::max<std::int64_t>(1, steps_)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t b = begin; b < end; ++b) {
                   for (std::int64_t t = 0; t < steps_; ++t) {
                     float* y = to + user_row(b, t) * width;
                     const bool real = t < length(b);
                     const float* x = real ? from + row(b, t) * width : nullptr;
                     if (add) {
                       for (std::int64_t i = 0; real && i < width; ++i) y[i] += x[i];
                     } else if (real) {
                       std::memcpy(y, x, static_cast<std::size_t>(width) * sizeof(float));
                     } else {
                       std::memset(y, 0, static_cast<std::size_t>(width) * sizeof(float));
                     }
                   }
                 }
               });
}

}  // namespace fovea
