#include "attention/tiled/fused_heads.hpp"

#include "base/arena.hpp"

namespace fovea::detail {
namespace {

struct Scratch {
  float* data = nullptr;
  std::int64_t floats = 0;
  ~Scratch() { arena_release(data); }
};
thread_local Scratch scratch;

// Field by field: a struct made elsewhere and copied here is read in larger parts than it was written in, which waits
// for every store of the head before.
void fill(kernels::Visibility& visibility, const FusedAttention& attention, std::int64_t b, std::int64_t h) {
  const fovea::attention::Visibility& from = attention.visibility;
  visibility.length = from.lengths == nullptr ? attention.shape.keys : from.lengths[b];
  visibility.offset = from.offset;
  visibility.causal = from.causal;
  visibility.window = from.window;
  if (from.mask) visibility.mask = from.mask.data + b * from.mask.b + h * from.mask.h;
  visibility.mask_stride = from.mask.i;
  if (const fovea::attention::BiasView& bias = from.one_bias()) {
    visibility.bias = bias.data + bias.first + b * bias.b + h * bias.h;
    visibility.bias_row = bias.i;
    visibility.bias_column = bias.j;
  }
  if (from.alibi_slopes != nullptr) visibility.alibi_slope = from.alibi_slopes[h];
  if (from.blocks) visibility.map = from.blocks.data[b * from.blocks.b + h * from.blocks.h];
}

const float* at(const HeadArray<const float>& array, std::int64_t b, std::int64_t h) {
  return array.data + b * array.batch + h * array.head;
}

// What both heads share.
template <class Head>
void fill(Head& head, const FusedAttention& attention, std::int64_t b, std::int64_t h, const ModifierTask& task) {
  const FusedShape& s = attention.shape;
  head.queries = s.queries;
  head.keys = s.keys;
  head.dim = s.dim;
  head.value_dim = s.value_dim;
  head.v = at(attention.v, b, h / (s.heads / s.key_heads));
  head.v_stride = attention.v.row;
  fill(head.visibility, attention, b, h);
  head.change.softcap = attention.softcap;
  head.change.batch = b;
  head.change.head = h;
  attention::Modifiers::use(head.change, task);
  if (attention.sinks != nullptr) head.sink = attention.sinks + h;
  head.dropout = attention.dropout;
  const std::int64_t number = b * s.heads + h;
  head.dropout.counter += static_cast<std::uint64_t>(number * s.queries * s.keys);
  head.out = attention.out.data + b * attention.out.batch + h * attention.out.head;
  head.out_stride = attention.out.row;
  head.peak = attention.stats + number * 2 * s.queries;
  head.mass = head.peak + s.queries;
}

}  // namespace

float* kept_scratch(std::int64_t floats) {
  if (floats > scratch.floats) {
    arena_release(scratch.data);
    scratch = {};
    scratch.data = static_cast<float*>(arena_allocate(static_cast<std::size_t>(floats) * sizeof(float)));
    scratch.floats = floats;
  }
  return scratch.data;
}

kernels::DotHead dot_head(const FusedAttention& attention, std::int64_t b, std::int64_t h, const ModifierTask& task) {
  const std::int64_t kh = h / (attention.shape.heads / attention.shape.key_heads);
  kernels::DotHead head;
  fill(head, attention, b, h, task);
  head.q = at(attention.q, b, h);
  head.q_stride = attention.q.row;
  head.k = at(attention.k, b, kh);
  head.k_stride = attention.k.row;
  head.scale = attention.scale;
  return head;
}

kernels::AdditiveHead additive_head(const FusedAttention& attention, std::int64_t b, std::int64_t h,
                                    const ModifierTask& task) {
  const std::int64_t kh = h / (attention.shape.heads / attention.shape.key_heads);
  kernels::AdditiveHead head;
  fill(head, attention, b, h, task);
  head.a = at(attention.q, b, h);
  head.a_stride = attention.q.row;
  head.b = at(attention.k, b, kh);
  head.b_stride = attention.k.row;
  head.w = attention.w + h * attention.w_head;
  return head;
}

}  // namespace fovea::detail
