#include "model/short_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "fovea/error.hpp"
#include "fovea/threads.hpp"
#include "kernels/gemm.hpp"
#include "tensor/matrix_of.hpp"

namespace fovea {
namespace {

void check(std::span<const std::int32_t> tokens, std::int64_t vocabulary) {
  std::int32_t last = -1;
  for (const std::int32_t token : tokens) {
    if (token <= last || token >= vocabulary) {
      throw UsageError("shortlist", fmt::format("token {} in a vocabulary of {}; sorted tokens of it are needed", token,
                                                vocabulary));
    }
    last = token;
  }
}

// Rows of an array [rows, width] or of a vector [rows].
Tensor some_rows(const Tensor& all, std::span<const std::int32_t> rows) {
  const std::int64_t width = all.size() / all.dim(0);
  Tensor some = Tensor::empty({static_cast<std::int64_t>(rows.size()), width});
  float* to = some.data();
  for (const std::int32_t row : rows) to = std::copy_n(all.data() + row * width, width, to);
  return some;
}

}  // namespace

ShortOutput::ShortOutput(const Weight& output, const Tensor& bias, std::vector<std::vector<std::int32_t>> candidates)
    : sentences_(candidates.size()) {
  for (std::size_t s = 0; s < candidates.size(); ++s) {
    check(candidates[s], output.out());
    widest_ = std::max(widest_, static_cast<std::int64_t>(candidates[s].size()));
    sentences_[s].candidates = std::move(candidates[s]);
    sentence_of_.push_back(static_cast<std::int32_t>(s));
  }
  const Storage storage = output.packed ? output.packed->storage() : Storage::f32;
  const Tensor weights = storage == Storage::int8 ? Tensor() : output.values().value().contiguous();
  parallel_for(static_cast<std::int64_t>(sentences_.size()), 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t s = begin; s < end; ++s) {
      Sentence& sentence = sentences_[static_cast<std::size_t>(s)];
      if (sentence.candidates.empty()) continue;
      sentence.bias = some_rows(bias, sentence.candidates);
      sentence.output = storage == Storage::int8
                            ? std::make_unique<const PackedWeight>(*output.packed, sentence.candidates)
                            : std::make_unique<const PackedWeight>(some_rows(weights, sentence.candidates),
                                                                   MatrixLayout::out_in, storage);
    }
  });
}

Tensor ShortOutput::logits(const Tensor& states) const {
  constexpr std::int64_t kRowsPerChunk = 32;
  const Tensor x = states.contiguous();
  const std::int64_t width = x.dim(1);
  Tensor own = Tensor::empty({x.dim(0), widest_});
  parallel_for(x.dim(0), kRowsPerChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end;) {
      const Sentence& sentence = of(row);
      std::int64_t last = row + 1;
      while (last < end && &of(last) == &sentence) ++last;
      if (sentence.output) {
        kernels::gemm_packed(last - row, x.data() + row * width, width, matrix_of(*sentence.output), 0.0F,
                             own.data() + row * widest_, widest_, {.bias = sentence.bias.data()});
      }
      for (; row < last; ++row) {
        std::fill(own.data() + row * widest_ + static_cast<std::int64_t>(sentence.candidates.size()),
                  own.data() + (row + 1) * widest_, -std::numeric_limits<float>::infinity());
      }
    }
  });
  return own;
}

void ShortOutput::keep(std::span<const std::int32_t> rows) {
  kept_.clear();
  for (const std::int32_t r : rows) kept_.push_back(sentence_of_[static_cast<std::size_t>(r)]);
  sentence_of_.swap(kept_);
}

}  // namespace fovea
