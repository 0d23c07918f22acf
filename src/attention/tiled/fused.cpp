#include "attention/tiled/fused.hpp"

#include <algorithm>

#include "attention/tiled/fused_heads.hpp"
#include "base/arena.hpp"
#include "fovea/tensor.hpp"
#include "fovea/threads.hpp"
#include "kernels/kernels.hpp"

namespace fovea {
namespace {

using kernels::kKeyChunk;
using kernels::kRowBlock;
using kernels::Range;

// Floats of the buffers that chunks of keys sum the queries' gradient in.
constexpr std::int64_t kPartialFloats = std::int64_t{2} << 20;

std::int64_t blocks(std::int64_t n, std::int64_t size) {
  return (n + size - 1) / size;
}

// Chunks for parallel_for: few enough to cost nothing, enough that a thread that is held up does not hold up all.
std::int64_t grain(std::int64_t tasks) {
  return std::max<std::int64_t>(1, tasks / (8 * threads()));
}

// One query per head, and heads that share keys: a decoder's step with grouped queries.
bool is_grouped_step(const FusedAttention& a) {
  return a.shape.queries == 1 && a.shape.heads > a.shape.key_heads && a.w == nullptr && a.dropout.rate == 0 &&
         a.visibility.window < 0 && !a.visibility.mask && !a.visibility.one_bias() &&
         a.visibility.alibi_slopes == nullptr && !a.visibility.blocks && a.sinks == nullptr && a.modifiers == nullptr;
}

// The heads that share keys become queries of one head, so that the keys are read once.
void grouped_step(const FusedAttention& attention) {
  const auto& kernel = *kernels::active().attention;
  const FusedShape& s = attention.shape;
  const std::int64_t group = s.heads / s.key_heads;
  const std::int64_t scratch = kernel.scratch(s.keys, s.dim, s.value_dim);
  parallel_for(s.batch * s.key_heads, 1, [&](std::int64_t begin, std::int64_t end) {
    float* memory = detail::kept_scratch(scratch + 2 * group);
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t b = task / s.key_heads;
      const std::int64_t h = task % s.key_heads * group;
      kernels::DotHead head = detail::dot_head(attention, b, h, {});
      head.queries = group;
      head.q_stride = attention.q.head;
      head.out_stride = attention.out.head;
      if (head.visibility.causal) {  // all have the same position
        head.visibility.length = std::clamp<std::int64_t>(head.visibility.offset + 1, 0, head.visibility.length);
        head.visibility.causal = false;
      }
      head.peak = memory + scratch;
      head.mass = head.peak + group;
      kernel.dot_forward(head, {0, group}, memory);
      float* stats = attention.stats + (b * s.heads + h) * 2;
      for (std::int64_t i = 0; i < group; ++i) {
        stats[2 * i] = head.peak[i];
        stats[2 * i + 1] = head.mass[i];
      }
    }
  });
}

}  // namespace

void fused_forward(const FusedAttention& attention) {
  if (is_grouped_step(attention)) {
    grouped_step(attention);
    return;
  }
  const auto& kernel = *kernels::active().attention;
  const FusedShape& s = attention.shape;
  const std::int64_t scratch = kernel.scratch(s.keys, s.dim, s.value_dim);
  const std::int64_t per_head = blocks(s.queries, kRowBlock);
  const detail::ModifierTask modifiers{attention.modifiers, nullptr};
  const std::int64_t tasks = s.batch * s.heads * per_head;
  // A short sentence takes some microseconds, less than waking another thread does.
  constexpr std::int64_t kWorth = 256 * 1024;
  const bool alone = attention.w == nullptr && s.batch * s.heads * s.queries * s.keys * (s.dim + s.value_dim) < kWorth;
  parallel_for(tasks, alone ? tasks : grain(tasks), [&](std::int64_t begin, std::int64_t end) {
    float* memory = detail::kept_scratch(scratch);
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t b = task / per_head / s.heads;
      const std::int64_t h = task / per_head % s.heads;
      const std::int64_t row = task % per_head * kRowBlock;
      const Range rows{row, std::min(row + kRowBlock, s.queries)};
      if (task + 1 < end && per_head == 1) detail::prefetch_head(attention, (task + 1) / s.heads, (task + 1) % s.heads);
      if (attention.w == nullptr) {
        kernel.dot_forward(detail::dot_head(attention, b, h, modifiers), rows, memory);
      } else {
        kernel.additive_forward(detail::additive_head(attention, b, h, modifiers), rows, memory);
      }
    }
  });
}

namespace {

// One backward pass, cut along whole chunks of keys. A unit is what must run in a fixed order because it adds to the
// same places: the query heads that share a key head, and whatever shares a gradient of the bias.
class Backward {
 public:
  Backward(const FusedAttention& attention, const FusedGrads& grads)
      : attention_(attention),
        grads_(grads),
        kernel_(*kernels::active().attention),
        s_(attention.shape),
        bias_(attention.visibility.one_bias()),
        group_(s_.heads / s_.key_heads),
        chunks_(blocks(s_.keys, kKeyChunk)),
        scratch_(kernel_.scratch(s_.keys, s_.dim, s_.value_dim)) {
    const bool join_batches = grads.dbias != nullptr && bias_.b == 0;
    const bool join_heads = grads.dbias != nullptr && bias_.h == 0;
    unit_batches_ = join_batches ? 1 : s_.batch;
    unit_heads_ = join_heads ? 1 : s_.key_heads;
    members_ = s_.batch * s_.key_heads / (unit_batches_ * unit_heads_);
    if (grads.dw != nullptr) dw_ = Tensor::zeros({s_.batch * s_.heads, chunks_, s_.dim});
    for (const FusedGrads::Parameter& one : grads.modifiers) learned_ += one.to == nullptr ? 0 : one.size;
    // Each head of each chunk sums the gradients of modifiers in a place of its own, where that takes little memory.
    constexpr std::int64_t kLearnedFloats = std::int64_t{4} << 20;
    learns_apart_ = s_.batch * s_.heads * chunks_ * learned_ <= kLearnedFloats;
    if (learned_ > 0) dlearned_ = Tensor::zeros({s_.batch * s_.heads, learns_apart_ ? chunks_ : 1, learned_});
  }

  void run() {
    const std::int64_t units = unit_batches_ * unit_heads_;
    // A bias by distance (rows -1 apart) has pairs of different chunks in one place.
    const bool chunks_apart = grads_.dbias == nullptr || (bias_.j != 0 && bias_.i >= 0);
    if (chunks_ == 1 || !chunks_apart || !learns_apart_ || units >= 2 * threads()) {
      whole_heads(units);
    } else {
      chunk_by_chunk(units);
    }
    if (dw_) add_dw();
    if (dlearned_) add_learned();
  }

 private:
  void head(std::int64_t b, std::int64_t h, std::int64_t c, Range rows, kernels::GradRows dq, bool add_keys) {
    const Range keys{c * kKeyChunk, std::min((c + 1) * kKeyChunk, s_.keys)};
    const std::int64_t kh = h / group_;
    kernels::AttentionGrads g;
    g.dout = grads_.dout.data + b * grads_.dout.batch + h * grads_.dout.head;
    g.dout_stride = grads_.dout.row;
    if (grads_.dlog_sum != nullptr) g.dlog_sum = grads_.dlog_sum + (b * s_.heads + h) * s_.queries;
    g.dq = dq;
    g.dk = detail::grad_rows(grads_.dk, b, kh);
    g.dv = detail::grad_rows(grads_.dv, b, kh);
    g.dk.add |= add_keys;
    g.dv.add |= add_keys;
    if (dw_) g.dw = dw_.data() + ((b * s_.heads + h) * chunks_ + c) * s_.dim;
    if (grads_.dbias != nullptr) {
      g.dbias = grads_.dbias + bias_.first + b * bias_.b + h * bias_.h;
      g.dbias_row = bias_.i;
      g.dbias_column = bias_.j;
    }
    float* memory = detail::kept_scratch(scratch_);
    std::vector<float*> learned;  // of each parameter of each modifier
    if (dlearned_) {
      float* at = dlearned_.data() + ((b * s_.heads + h) * dlearned_.dim(1) + (learns_apart_ ? c : 0)) * learned_;
      for (const FusedGrads::Parameter& one : grads_.modifiers) {
        learned.push_back(one.to == nullptr ? nullptr : at);
        if (one.to != nullptr) at += one.size;
      }
    }
    const detail::ModifierTask task{attention_.modifiers, learned.empty() ? nullptr : learned.data()};
    if (attention_.w == nullptr) {
      kernel_.dot_backward(detail::dot_head(attention_, b, h, task), g, rows, keys, memory);
    } else {
      kernel_.additive_backward(detail::additive_head(attention_, b, h, task), g, rows, keys, memory);
    }
  }

  struct Place {
    std::int64_t batch, key_head;
  };
  [[nodiscard]] Place place(std::int64_t unit, std::int64_t member) const {
    const std::int64_t heads_each = s_.key_heads / unit_heads_;
    return {unit / unit_heads_ + member / heads_each, unit % unit_heads_ + member % heads_each};
  }

  void whole_heads(std::int64_t units) {
    parallel_for(units, grain(units), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t unit = begin; unit < end; ++unit) {
        for (std::int64_t step = 0; step < members_ * group_; ++step) {
          const auto [b, kh] = place(unit, step / group_);
          const std::int64_t h = kh * group_ + step % group_;
          if (members_ * group_ == 1 && unit + 1 < end) {
            const auto next = place(unit + 1, 0);
            detail::prefetch_head(attention_, next.batch, next.key_head, grads_.dout);
          }
          for (std::int64_t c = 0; c < chunks_; ++c) {
            auto dq = detail::grad_rows(grads_.dq, b, h);
            dq.add |= c > 0;
            head(b, h, c, {0, s_.queries}, dq, step % group_ > 0);
          }
        }
      }
    });
  }

  // Few heads, many keys: each chunk of keys is a task of its own and sums dq in a buffer of its own, for as many rows
  // as the buffers hold; then the buffers are added in order, as whole_heads does.
  void chunk_by_chunk(std::int64_t units) {
    const std::int64_t fitting = kPartialFloats / (units * chunks_ * s_.dim) / kRowBlock * kRowBlock;
    const std::int64_t rows_each = std::clamp(fitting, kRowBlock, blocks(s_.queries, kRowBlock) * kRowBlock);
    const bool want_dq = grads_.dq.data != nullptr;
    Tensor partial;
    if (want_dq) partial = Tensor::empty({units, chunks_, rows_each, s_.dim});
    for (std::int64_t step = 0; step < members_ * group_; ++step) {
      for (std::int64_t row = 0; row < s_.queries; row += rows_each) {
        const Range rows{row, std::min(row + rows_each, s_.queries)};
        parallel_for(units * chunks_, 1, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t task = begin; task < end; ++task) {
            const auto [b, kh] = place(task / chunks_, step / group_);
            kernels::GradRows dq;
            if (want_dq) dq = {partial.data() + (task * rows_each - row) * s_.dim, s_.dim, false};
            head(b, kh * group_ + step % group_, task % chunks_, rows, dq, step % group_ > 0 || row > 0);
          }
        });
        if (want_dq) add_partials(partial, units, rows_each, rows, step);
      }
    }
  }

  void add_partials(const Tensor& partial, std::int64_t units, std::int64_t rows_each, Range rows, std::int64_t step) {
    const std::int64_t count = rows.end - rows.begin;
    parallel_for(units * count, 64, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t at = begin; at < end; ++at) {
        const std::int64_t unit = at / count;
        const auto [b, kh] = place(unit, step / group_);
        const auto dq = detail::grad_rows(grads_.dq, b, kh * group_ + step % group_);
        float* to = dq.data + (rows.begin + at % count) * dq.stride;
        for (std::int64_t c = 0; c < chunks_; ++c) {
          const float* from = partial.data() + ((unit * chunks_ + c) * rows_each + at % count) * s_.dim;
          if (c == 0 && !dq.add) {
            std::copy(from, from + s_.dim, to);
          } else {
            for (std::int64_t d = 0; d < s_.dim; ++d) to[d] += from[d];
          }
        }
      }
    });
  }

  void add_dw() {
    for (std::int64_t at = 0; at < s_.batch * s_.heads; ++at) {
      float* to = grads_.dw + at % s_.heads * attention_.w_head;
      for (std::int64_t c = 0; c < chunks_; ++c) {
        const float* from = dw_.data() + (at * chunks_ + c) * s_.dim;
        for (std::int64_t d = 0; d < s_.dim; ++d) to[d] += from[d];
      }
    }
  }

  void add_learned() {
    const std::int64_t parts = s_.batch * s_.heads * dlearned_.dim(1);
    std::int64_t first = 0;  // of the parameter, in a part
    for (const FusedGrads::Parameter& one : grads_.modifiers) {
      if (one.to == nullptr) continue;
      parallel_for(one.size, 4096, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t part = 0; part < parts; ++part) {
          const float* from = dlearned_.data() + part * learned_ + first;
          for (std::int64_t x = begin; x < end; ++x) one.to[x] += from[x];
        }
      });
      first += one.size;
    }
  }

  const FusedAttention& attention_;
  const FusedGrads& grads_;
  const kernels::AttentionKernels& kernel_;
  const FusedShape& s_;
  const attention::BiasView& bias_;  // the gradient's strides too
  std::int64_t group_, chunks_, scratch_;
  std::int64_t unit_batches_ = 1, unit_heads_ = 1, members_ = 1;
  Tensor dw_;                 // [batch * heads, chunks, dim]
  std::int64_t learned_ = 0;  // floats of all parameters of modifiers that have a gradient
  bool learns_apart_ = true;  // each chunk has sums of its own
  Tensor dlearned_;           // [batch * heads, chunks or 1, learned]
};

}  // namespace

void fused_backward(const FusedAttention& attention, const FusedGrads& grads) {
  Backward(attention, grads).run();
}

}  // namespace fovea
