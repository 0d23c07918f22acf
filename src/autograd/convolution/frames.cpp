#include "autograd/convolution/frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fovea/error.hpp"
#include "fovea/threads.hpp"

namespace fovea {
namespace {

constexpr std::int64_t kRowsPerTask = 256;

std::size_t bytes(std::int64_t floats) {
  return static_cast<std::size_t>(floats) * sizeof(float);
}

}  // namespace

Frames::Frames(const char* op, std::int64_t batch, std::int64_t steps, std::span<const std::int64_t> lengths,
               std::int64_t gap)
    : batch_(batch), steps_(steps), gap_(gap) {
  if (!lengths.empty() && static_cast<std::int64_t>(lengths.size()) != batch) {
    throw ShapeError(fmt::format("{}: {} lengths for a batch of {}", op, lengths.size(), batch));
  }
  length_.assign(static_cast<std::size_t>(batch), steps);
  if (!lengths.empty()) std::copy(lengths.begin(), lengths.end(), length_.begin());
  user_row_.reserve(static_cast<std::size_t>(gap + batch * (steps + gap)));
  user_row_.assign(static_cast<std::size_t>(gap), -1);
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int64_t length = length_[static_cast<std::size_t>(b)];
    if (length < 0 || length > steps) {
      throw ShapeError(fmt::format("{}: length {} of sequence {} is not in 0 to {}", op, length, b, steps));
    }
    if (length == 0) continue;
    for (std::int64_t t = 0; t < length; ++t) user_row_.push_back(b * steps + t);
    user_row_.insert(user_row_.end(), static_cast<std::size_t>(gap), -1);
  }
}

Tensor Frames::frame(const Tensor& padded) const {
  const std::int64_t width = padded.dim(-1);
  Tensor result = Tensor::empty({rows(), width});
  parallel_for(rows(), kRowsPerTask, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      float* to = result.data() + r * width;
      if (user_row(r) < 0) {
        std::memset(to, 0, bytes(width));
      } else {
        std::memcpy(to, padded.data() + user_row(r) * width, bytes(width));
      }
    }
  });
  return result;
}

void Frames::unframe(const Tensor& frames, const Tensor& padded, bool add) const {
  const std::int64_t width = padded.dim(-1);
  if (!add) zero_padding(padded);
  parallel_for(rows(), kRowsPerTask, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      if (user_row(r) < 0) continue;
      const float* from = frames.data() + r * width;
      float* to = padded.data() + user_row(r) * width;
      if (add) {
        for (std::int64_t i = 0; i < width; ++i) to[i] += from[i];
      } else {
        std::memcpy(to, from, bytes(width));
      }
    }
  });
}

void Frames::zero_padding(const Tensor& padded) const {
  const std::int64_t width = padded.dim(-1);
  for (std::int64_t b = 0; b < batch_; ++b) {
    const std::int64_t length = length_[static_cast<std::size_t>(b)];
    std::memset(padded.data() + (b * steps_ + length) * width, 0, bytes((steps_ - length) * width));
  }
}

}  // namespace fovea
