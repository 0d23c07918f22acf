#include "model/decoders/cnn_stepper.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "fovea/threads.hpp"
#include "kernels/attention_step.hpp"
#include "kernels/conv.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"
#include "model/decoders/product.hpp"
#include "model/layer_attention.hpp"

namespace fovea {
namespace {

using Int = std::int64_t;

// Rows that one thread takes at a time; fewer are not worth waking another.
constexpr Int kCnnRowsPerChunk = 16;

}  // namespace

CnnStepper::CnnStepper(const CnnDecoder& decoder, const Memory* memory, Int rows, bool want_attention,
                       const Interventions* interventions)
    : decoder_(decoder),
      want_attention_(want_attention),
      interventions_(interventions),
      dim_(decoder.in_.weight.out()),
      embedding_(decoder.embedding_),
      window_row_(decoder.kernel_ * dim_) {
  if (decoder.attends_) {
    rows = memory->states.dim(0);
    keys_ = decoder.keys(*memory).value().contiguous();
    values_ = decoder.values(*memory).value().contiguous();
    count_.assign(memory->lengths.begin(), memory->lengths.end());
    sentence_of_.resize(static_cast<std::size_t>(rows));
    std::iota(sentence_of_.begin(), sentence_of_.end(), 0);
  }
  for (std::size_t i = 0; i < decoder.layers_.size(); ++i) {
    windows_.push_back(Tensor::zeros({rows, window_row_}));
    next_windows_.push_back(Tensor::empty({rows, window_row_}));
  }
  from_.resize(static_cast<std::size_t>(rows));
  std::iota(from_.begin(), from_.end(), 0);
}

void CnnStepper::make_room(Int rows) {
  if (rows <= rows_) return;
  rows_ = rows;
  sums_ = Tensor::empty({rows, 2 * dim_});
  y_ = Tensor::empty({rows, dim_});
  mixed_ = Tensor::empty({rows, dim_});
  last_ = Tensor::empty({rows, dim_});
  if (!decoder_.attends_) return;
  query_ = Tensor::empty({rows, embedding_});
  context_ = Tensor::empty({rows, embedding_});
  scores_ = Tensor::empty({rows, keys_.dim(1)});
}

void CnnStepper::slide(Int rows) {
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    if (next_windows_[i].dim(0) < rows) next_windows_[i] = Tensor::empty({rows, window_row_});
    const float* old = windows_[i].data();
    float* next = next_windows_[i].data();
    parallel_for(rows, 4 * kCnnRowsPerChunk, [&](Int begin, Int end) {
      for (Int r = begin; r < end; ++r) {
        const float* from = old + from_[static_cast<std::size_t>(r)] * window_row_;
        std::copy_n(from + dim_, window_row_ - dim_, next + r * window_row_);
      }
    });
    std::swap(windows_[i], next_windows_[i]);
  }
  std::iota(from_.begin(), from_.end(), 0);
}

void CnnStepper::convolve(std::size_t layer, Int rows) {
  const GatedConvolution& convolution = decoder_.layers_[layer].convolution;
  multiply(convolution.weight, {rows, windows_[layer].data(), window_row_, sums_.data(), 2 * dim_});
  const float* bias = convolution.bias.value().data();
  parallel_for(rows, kCnnRowsPerChunk, [&](Int begin, Int end) {
    for (Int r = begin; r < end; ++r) {
      kernels::active().conv->glu_forward(dim_, sums_.data() + r * 2 * dim_, bias, y_.data() + r * dim_);
    }
  });
}

void CnnStepper::attend(std::size_t layer, const float* embedded, Int rows) {
  const Layer& weights = decoder_.layers_[layer];
  multiply(weights.query, rows, y_.data(), query_.data());
  const Int longest = keys_.dim(1);
  const float scale = 1.0F / std::sqrt(static_cast<float>(embedding_));
  const auto editor = editor_of(interventions_, AttentionKind::cross, static_cast<int>(layer), length_);
  parallel_for(rows, kCnnRowsPerChunk, [&](Int begin, Int end) {
    const auto& math = *kernels::active().math;
    const auto& steps = *kernels::active().attention_step;
    float* q = query_.data() + begin * embedding_;
    const auto all = static_cast<std::size_t>((end - begin) * embedding_);
    math.add_in_place(embedded + begin * embedding_, q, all);
    math.scale(CnnDecoder::kHalf, q, q, all);
    for (Int r = begin; r < end; ++r) {
      const Int sentence = sentence_of_[static_cast<std::size_t>(r)];
      const Int keys = count_[static_cast<std::size_t>(sentence)];
      const Int first = sentence * longest * embedding_;
      float* w = scores_.data() + r * longest;
      steps.dot(keys, embedding_, scale, query_.data() + r * embedding_, keys_.data() + first, embedding_, w);
      steps.softmax(keys, w);
      if (editor) editor->edit({sentence, 0, length_, 0}, {w, static_cast<std::size_t>(keys)}, {});
      steps.weigh(keys, embedding_, w, values_.data() + first, embedding_, context_.data() + r * embedding_);
    }
  });
  if (want_attention_) {
    const Tensor kept = Tensor::zeros({rows, 1, longest});
    for (Int r = 0; r < rows; ++r) {
      const auto sentence = static_cast<std::size_t>(sentence_of_[static_cast<std::size_t>(r)]);
      std::copy_n(scores_.data() + r * longest, count_[sentence], kept.data() + r * longest);
    }
    weights_.push_back(kept);
  }
  multiply(weights.context, rows, context_.data(), mixed_.data());
  parallel_for(rows, kCnnRowsPerChunk, [&](Int begin, Int end) {
    float* y = y_.data() + begin * dim_;
    const auto all = static_cast<std::size_t>((end - begin) * dim_);
    kernels::active().math->add_in_place(mixed_.data() + begin * dim_, y, all);
    kernels::active().math->scale(CnnDecoder::kHalf, y, y, all);
  });
}

Tensor CnnStepper::step(const Tensor& embedded) {
  const NoGrad quiet;
  const Int rows = embedded.dim(0);
  make_room(rows);
  const Tensor placed =
      decoder_.positions_.add_to(embedded.reshape({rows, 1, embedding_}), length_).value().contiguous();
  slide(rows);
  weights_.clear();
  multiply(decoder_.in_, {rows, placed.data(), embedding_, newest(0), window_row_});
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    convolve(i, rows);
    if (decoder_.attends_) attend(i, placed.data(), rows);
    const bool top = i + 1 == windows_.size();
    const float* x = newest(i);
    float* to = top ? last_.data() : newest(i + 1);
    const Int to_row = top ? dim_ : window_row_;
    parallel_for(rows, kCnnRowsPerChunk, [&](Int begin, Int end) {
      const auto& math = *kernels::active().math;
      for (Int r = begin; r < end; ++r) {
        float* y = to + r * to_row;
        math.add(y_.data() + r * dim_, x + r * window_row_, y, static_cast<std::size_t>(dim_));
        math.scale(CnnDecoder::kHalf, y, y, static_cast<std::size_t>(dim_));
      }
    });
  }
  ++length_;
  Tensor out = Tensor::empty({rows, embedding_});
  multiply(decoder_.out_, rows, last_.data(), out.data());
  return out;
}

void CnnStepper::keep(std::span<const std::int32_t> rows) {
  next_from_.clear();
  for (const std::int32_t r : rows) next_from_.push_back(from_[static_cast<std::size_t>(r)]);
  from_.swap(next_from_);
  if (!decoder_.attends_) return;
  next_sentence_of_.clear();
  for (const std::int32_t r : rows) next_sentence_of_.push_back(sentence_of_[static_cast<std::size_t>(r)]);
  sentence_of_.swap(next_sentence_of_);
}

}  // namespace fovea
