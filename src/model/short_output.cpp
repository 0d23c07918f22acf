#include "model/short_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "fovea/error.hpp"

namespace fovea {

ShortOutput::ShortOutput(const Weight& output, const Tensor& bias, std::vector<std::vector<std::int32_t>> candidates)
    : candidates_(std::move(candidates)), sentence_of_(candidates_.size()) {
  std::iota(sentence_of_.begin(), sentence_of_.end(), 0);
  std::vector<std::int32_t> column(static_cast<std::size_t>(output.out()), -1);
  std::vector<std::int32_t> all;
  for (const auto& tokens : candidates_) {
    std::int32_t last = -1;
    for (const std::int32_t token : tokens) {
      if (token <= last || token >= output.out()) {
        throw UsageError(fmt::format("shortlist: token {} in a vocabulary of {}; sorted tokens of it are needed", token,
                                     output.out()));
      }
      last = token;
      if (std::exchange(column[static_cast<std::size_t>(token)], 0) < 0) all.push_back(token);
    }
    widest_ = std::max(widest_, static_cast<std::int64_t>(tokens.size()));
  }
  std::sort(all.begin(), all.end());
  const Tensor weights = output.values().contiguous();
  const std::int64_t width = output.in();
  const auto count = static_cast<std::int64_t>(all.size());
  const Tensor rows = Tensor::empty({count, width});
  bias_ = Tensor::empty({count});
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t token = all[static_cast<std::size_t>(i)];
    column[static_cast<std::size_t>(token)] = static_cast<std::int32_t>(i);
    std::copy_n(weights.data() + token * width, width, rows.data() + i * width);
    bias_.data()[i] = bias.data()[token];
  }
  packed_ = std::make_unique<const PackedWeight>(rows, MatrixLayout::out_in,
                                                 output.packed ? output.packed->storage() : Storage::f32);
  for (const auto& tokens : candidates_) {
    auto& places = columns_.emplace_back();
    for (const std::int32_t token : tokens) places.push_back(column[static_cast<std::size_t>(token)]);
  }
}

Tensor ShortOutput::logits(const Tensor& states) const {
  const Tensor all = packed_->product(states, bias_);
  const std::int64_t rows = all.dim(0);
  Tensor own = Tensor::empty({rows, widest_});
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto& places = columns_[static_cast<std::size_t>(sentence_of_[static_cast<std::size_t>(r)])];
    const float* from = all.data() + r * all.dim(1);
    float* to = own.data() + r * widest_;
    for (const std::int32_t place : places) *to++ = from[place];
    std::fill(to, own.data() + (r + 1) * widest_, -std::numeric_limits<float>::infinity());
  }
  return own;
}

void ShortOutput::keep(std::span<const std::int32_t> rows) {
  std::vector<std::int32_t> kept;
  kept.reserve(rows.size());
  for (const std::int32_t r : rows) kept.push_back(sentence_of_[static_cast<std::size_t>(r)]);
  sentence_of_.swap(kept);
}

std::span<const std::int32_t> ShortOutput::candidates(std::int64_t row) const {
  return candidates_[static_cast<std::size_t>(sentence_of_[static_cast<std::size_t>(row)])];
}

}  // namespace fovea
