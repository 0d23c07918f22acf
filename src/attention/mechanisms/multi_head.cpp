#include "fovea/attention/multi_head.hpp"

#include <fmt/format.h>

#include <utility>

#include "attention/mechanisms/small_ops.hpp"
#include "attention/project.hpp"
#include "fovea/error.hpp"

namespace fovea {
namespace {

Var map(const char* name, const Var& x, const Var& w, const Var& b) {
  if (!w || w.rank() != 2 || x.rank() != 3 || x.dim(-1) != w.dim(0) || (b && !(b.shape() == Shape{w.dim(1)}))) {
    throw ShapeError(fmt::format("multi_head: {} {} does not map {}, a bias has its last axis", name,
                                 w ? w.shape().text() : "is missing and", x.shape().text()));
  }
  return attention::project_plain(x, w, b);
}

}  // namespace

MultiHead MultiHead::make(const Sizes& sizes, std::uint64_t seed) {
  MultiHead m;
  m.heads = sizes.heads;
  m.kv_heads = sizes.kv_heads > 0 ? sizes.kv_heads : sizes.heads;
  if (sizes.dim < 1 || m.heads < 1 || sizes.dim % m.heads != 0 || m.heads % m.kv_heads != 0) {
    throw UsageError(fmt::format("multi_head: dim {}, heads {}, kv_heads {}: each must divide the one before",
                                 sizes.dim, m.heads, m.kv_heads));
  }
  const std::int64_t memory = sizes.memory_dim > 0 ? sizes.memory_dim : sizes.dim;
  const std::int64_t kv = m.kv_heads * (sizes.dim / m.heads);
  Rng rng(seed);
  m.w_q = attention::xavier(sizes.dim, sizes.dim, rng);
  m.w_k = attention::xavier(memory, kv, rng);
  m.w_v = attention::xavier(memory, kv, rng);
  m.w_o = attention::xavier(sizes.dim, sizes.dim, rng);
  if (sizes.biases) {
    m.b_q = attention::zero_parameter({sizes.dim});
    m.b_k = attention::zero_parameter({kv});
    m.b_v = attention::zero_parameter({kv});
    m.b_o = attention::zero_parameter({sizes.dim});
  }
  return m;
}

MultiHead::Memory MultiHead::remember(const Var& memory) const {
  return {map("w_k", memory, w_k, b_k), map("w_v", memory, w_v, b_v)};
}

Attended MultiHead::look(const Var& x, const Memory& memory, AttendOptions how) const {
  how.heads = heads;
  how.kv_heads = kv_heads;
  Attended seen = attend(map("w_q", x, w_q, b_q), memory.keys, memory.values, how);
  seen.context = map("w_o", seen.context, w_o, b_o);
  return seen;
}

Attended MultiHead::operator()(const Var& x, const Var& memory, AttendOptions how) const {
  return look(x, remember(memory), std::move(how));
}

NamedVars MultiHead::parameters() const {
  NamedVars all{{"w_q", w_q}, {"w_k", w_k}, {"w_v", w_v}, {"w_o", w_o}};
  const NamedVars biases{{"b_q", b_q}, {"b_k", b_k}, {"b_v", b_v}, {"b_o", b_o}};
  for (const auto& [name, bias] : biases) {
    if (bias) all.emplace_back(name, bias);
  }
  return all;
}

SelfAttention SelfAttention::make(const MultiHead::Sizes& sizes, std::uint64_t seed) {
  return {MultiHead::make(sizes, seed)};
}

Attended CrossAttention::operator()(const Var& x, const Var& memory, AttendOptions how) const {
  how.score = score;
  how.normalizer = normalizer;
  return attend(x, memory, memory, how);
}

}  // namespace fovea
