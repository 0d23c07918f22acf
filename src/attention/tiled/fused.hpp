// The tiled attention kernels over all heads of a batch, split over the thread pool.
//
// The bytes that come out do not depend on the number of threads, nor, for one sequence, on the others in the batch.
#pragma once

#include <cstdint>

#include <vector>

#include "attention/modifiers.hpp"
#include "attention/visibility.hpp"
#include "kernels/attention.hpp"

namespace fovea {

/// A [batch, heads, rows, width] array: head h of sequence b begins at data + b * batch + h * head; its rows are `row`
/// apart and contiguous. [B,T,H*D] and [B,H,T,D] both fit.
template <class T>
struct HeadArray {
  T* data = nullptr;
  std::int64_t batch = 0, head = 0, row = 0;
  bool add = false;  // of a gradient: added to what is there, else written over it
};

struct FusedShape {
  std::int64_t batch = 0, heads = 0;
  std::int64_t key_heads = 0;  // divides heads; query head h reads key head h / (heads / key_heads)
  std::int64_t queries = 0, keys = 0, dim = 0, value_dim = 0;
};

/// The dot and the additive family: a query's score is scale * q k', or w' tanh(q + k) where w is given.
struct FusedAttention {
  FusedShape shape;
  HeadArray<const float> q, k, v;
  float scale = 1;           // dot only
  const float* w = nullptr;  // additive: [dim], head h's at w + h * w_head
  std::int64_t w_head = 0;
  attention::Visibility visibility;
  float softcap = 0;
  const attention::Modifiers* modifiers = nullptr;  // null: none
  const float* sinks = nullptr;                     // [heads]; null: none
  kernels::WeightDropout dropout;  // head (b, h) counts from counter + (b * heads + h) * queries * keys on
  HeadArray<float> out;
  float* stats = nullptr;  // [batch, heads, 2, queries]: peak and mass, see kernels::DotHead
};

struct FusedGrads {
  HeadArray<const float> dout;
  const float* dlog_sum = nullptr;  // [batch, heads, queries], of the log-sum-exp; null: 0
  HeadArray<float> dq, dk, dv;      // data null: not wanted
  float* dw = nullptr;              // additive: as w, added to
  // Of each parameter of each modifier, in order: its floats, and where they are added to; null: not wanted.
  struct Parameter {
    std::int64_t size = 0;
    float* to = nullptr;
  };
  std::vector<Parameter> modifiers{};
  float* dbias = nullptr;  // laid out as the bias, added to; strides of 0 sum over that axis
};

/// Weights on demand, from q, k and the stats of a forward pass, in memory linear in the sequence. Any may be null.
/// Rows [rows.begin, rows.end) of every head; R is their number.
struct FusedWeights {
  kernels::Range rows;
  float* weights = nullptr;           // [batch, heads, R, keys]
  std::int64_t top = 0;               // at most keys
  std::int64_t* top_index = nullptr;  // [batch, heads, R, top]; of equal weights the lower index first
  float* top_weight = nullptr;        // [batch, heads, R, top]
  float* column_sums = nullptr;       // [batch, heads, keys], written over
  float* entropy = nullptr;           // [batch, heads, R], in nats
};

void fused_forward(const FusedAttention& attention);
void fused_backward(const FusedAttention& attention, const FusedGrads& grads);
void fused_weights(const FusedAttention& attention, const FusedWeights& wanted);

}  // namespace fovea
