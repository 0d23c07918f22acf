// Every score as a sum or product of projected queries and keys; keys are projected once, queries at every step.
//   additive  q = h W' + b,  k = m U'                    concat   q = h W_q',  k = m W_k'
//   general   k = m W' (so nothing is projected per step); with the term b . k: q = h W + b, k = m
//   cosine    q = h / |h|,  k = m / |m|                  location  q = h W', no keys
#include <cmath>
#include <variant>

#include "attention/project.hpp"
#include "attention/rnn/check.hpp"
#include "attention/rnn/decoder.hpp"
#include "fovea/threads.hpp"
#include "kernels/attention_step.hpp"
#include "kernels/kernels.hpp"

namespace fovea::decoder {
namespace {

using attention::project;
using attention::unit_rows;
using kernels::Trans;

// What of the score belongs to the decoder: kind, dim, and how a query is projected.
struct SetScore {
  Decoder& d;

  void same_width(const char* score) const {
    if (d.units != d.memory_width) {
      throw ShapeError(fmt::format("{}: memory of width {}: the {} score expects {}, the state's", kOp, d.memory_width,
                                   score, d.units));
    }
    d.dim = d.units;
  }
  void project_query(const Var& w, Trans trans, Int columns) const {
    d.query_weights = w;
    d.query_trans = trans;
    d.query_view = w.value().contiguous().slice(1, 0, columns);
  }

  void operator()(const score::Dot& how) const {
    same_width("dot");
    d.scale = how.scale.value_or(1.0F);
  }
  void operator()(const score::ScaledDot& how) const {
    same_width("scaled dot");
    d.scale = how.scale.value_or(1.0F / std::sqrt(static_cast<float>(d.units)));
  }
  void operator()(const score::General& how) const {
    expect("score W", how.w, {d.units, d.memory_width});
    expect("score b", how.b, {d.memory_width}, true);
    // Terms that are the same for all keys change no weight.
    expect("score a", how.a, {d.units}, true);
    expect("score c", how.c, {1}, true);
    if (how.b) {
      d.dim = d.memory_width;
      project_query(how.w, Trans::no, d.memory_width);
      d.query_bias = how.b;
    } else {
      d.dim = d.units;
      d.key_view = how.w.value().contiguous();
    }
  }
  void operator()(const score::Cosine& how) const {
    same_width("cosine");
    if (!(how.epsilon > 0)) throw UsageError(fmt::format("{}: cosine epsilon must be above 0", kOp));
    d.unit_epsilon = how.epsilon;
    d.scale = how.scale;
  }
  void operator()(const score::Additive& how) const {
    if (how.activation != Activation::tanh) {
      throw UsageError(fmt::format("{}: the additive score's activation must be tanh", kOp));
    }
    if (how.coverage) throw UsageError(fmt::format("{}: the additive score's coverage is kept by the decoder", kOp));
    d.kind = Kind::additive;
    d.dim = rows_of("score v", how.v, 1, "[h]");
    expect("score W", how.w, {d.dim, d.units}, true);
    expect("score U", how.u, {d.dim, d.memory_width}, true);
    expect("score b", how.b, {d.dim}, true);
    expect("score coverage_weight", how.coverage_weight, {d.dim}, true);
    if (!how.w && d.units != d.dim) expect("score W", how.w, {d.dim, d.units});
    if (!how.u && d.memory_width != d.dim) expect("score U", how.u, {d.dim, d.memory_width});
    if (!how.w && !how.u && how.b) throw UsageError(fmt::format("{}: score b needs W or U to be added to", kOp));
    if (how.w) project_query(how.w, Trans::yes, d.units);
    if (how.w) d.query_bias = how.b;
    if (how.u && (how.w || !how.b)) d.key_view = how.u.value().contiguous();
    d.vector = how.v;
    d.coverage_weight = how.coverage_weight;
  }
  void operator()(const score::Concat& how) const {
    d.kind = Kind::additive;
    d.dim = rows_of("score v", how.v, 1, "[h]");
    expect("score W", how.w, {d.dim, d.units + d.memory_width});
    project_query(how.w, Trans::yes, d.units);
    d.key_view = how.w.value().contiguous().slice(1, d.units, d.units + d.memory_width);
    d.vector = how.v;
  }
  void operator()(const score::Location& how) const {
    d.kind = Kind::location;
    d.dim = rows_of("score W", how.w, 2, "[L,width of the state]");
    expect("score W", how.w, {d.dim, d.units});
    project_query(how.w, Trans::yes, d.units);
  }
  void operator()(const score::Pairwise&) const { refuse("pairwise"); }
  void operator()(const score::Block&) const { refuse("block"); }
  // A score that has no case here is for attend() alone.
  template <class Other>
  void operator()(const Other&) const {
    refuse("chosen");
  }
  [[noreturn]] static void refuse(const char* score) {
    throw UsageError(fmt::format("{}: the {} score has no step of its own; use attend()", kOp, score));
  }
};

struct Keys {
  const Decoder& d;
  const Var& memory;

  Var operator()(const score::Dot&) const { return memory; }
  Var operator()(const score::ScaledDot&) const { return memory; }
  Var operator()(const score::General& how) const { return how.b ? memory : project(memory, how.w, {}); }
  Var operator()(const score::Cosine& how) const { return unit_rows(memory, how.epsilon); }
  Var operator()(const score::Additive& how) const {
    return how.u ? project(memory, how.u, how.w ? Var() : how.b) : memory;
  }
  Var operator()(const score::Concat& how) const { return project(memory, how.w, {}, 1, d.units); }
  Var operator()(const score::Location& how) const {
    if (d.dim < memory.dim(1)) {
      throw ShapeError(fmt::format("{}: score W {}: expected [L,{}] with L at least {}, the length of the memory", kOp,
                                   how.w.shape().text(), d.units, memory.dim(1)));
    }
    return {};
  }
  template <class Other>
  Var operator()(const Other&) const {
    return {};
  }
};

}  // namespace

void set_score(Decoder& d, const Score& score) {
  std::visit(SetScore{d}, score);
}

Var keys_of(const Decoder& d, const Score& score, const Var& memory) {
  return std::visit(Keys{d, memory}, score);
}

void set_source(const Decoder& d, const Var& memory, const Var& keys, std::span<const Int> lengths, Source& source) {
  source.batch = memory.dim(0);
  source.steps = memory.dim(1);
  if (!lengths.empty() && static_cast<Int>(lengths.size()) != source.batch) {
    throw ShapeError(fmt::format("{}: {} memory lengths for a batch of {}", kOp, lengths.size(), source.batch));
  }
  source.lengths.assign(static_cast<std::size_t>(source.batch), source.steps);
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    if (lengths[b] < 0 || lengths[b] > source.steps) {
      throw ShapeError(
          fmt::format("{}: memory length {} of sequence {} is not in 0 to {}", kOp, lengths[b], b, source.steps));
    }
    source.lengths[b] = lengths[b];
  }
  source.memory = memory.value().contiguous();
  if (keys) source.keys = keys.value().contiguous();
  if (d.kind != Kind::additive || d.coverage_weight) return;
  const auto& kernels = *kernels::active().attention_step;
  source.keys_exp = Tensor::empty(source.keys.shape());
  source.fits.assign(static_cast<std::size_t>(source.batch), 0);
  parallel_for(source.batch, 8, [&](Int begin, Int end) {
    for (Int b = begin; b < end; ++b) {
      const Int at = source.key_at(b, 0);
      const float most =
          kernels.exp_twice(source.length(b) * d.dim, source.keys.data() + at, source.keys_exp.data() + at);
      source.fits[static_cast<std::size_t>(b)] = most <= kernels::kAdditiveReach ? 1 : 0;
    }
  });
}

}  // namespace fovea::decoder
