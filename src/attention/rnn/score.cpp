// A score's form as a decoder computes it: keys are projected once, queries at every step.
//   additive  q = h W' + b,  k = m U'                    general   k = m W', so that nothing is projected per step;
//   cosine    q = h / |h|,  k = m / |m|                            with the term b . k: q = h W + b, k = m
//   location  q = h W', no keys
#include "attention/score_form.hpp"

#include "attention/project.hpp"
#include "attention/rnn/check.hpp"
#include "attention/rnn/decoder.hpp"
#include "fovea/threads.hpp"
#include "kernels/attention_step.hpp"
#include "kernels/kernels.hpp"

namespace fovea::decoder {
namespace {

using attention::ScoreForm;
using kernels::Trans;

// q = h op(W) + b with the first columns of W.
void project_query(Decoder& d, const Var& w, const Var& b, Trans trans, Int columns) {
  d.query_weights = w;
  d.query_bias = b;
  d.query_trans = trans;
  d.query_view = w.value().contiguous().slice(1, 0, columns);
}

void refuse_score(const char* what) {
  throw UsageError(fmt::format("{}: {}", kOp, what));
}

}  // namespace

void set_score(Decoder& d, const Score& score) {
  d.score = attention::score_form({kOp, "state", "memory"}, score, d.units, d.memory_width);
  const ScoreForm& form = d.score;
  d.scale = form.scale;
  d.dim = form.dim;
  switch (form.kind) {
    case ScoreForm::Kind::dot:
      d.dim = d.units;
      break;
    case ScoreForm::Kind::cosine:
      d.dim = d.units;
      d.unit_epsilon = form.epsilon;
      break;
    case ScoreForm::Kind::general:  // a and c are the same for all keys and change no weight
      d.dim = form.general.b ? d.memory_width : d.units;
      if (form.general.b) {
        project_query(d, form.general.w, form.general.b, Trans::no, d.memory_width);
      } else {
        d.key_view = form.general.w.value().contiguous();
      }
      break;
    case ScoreForm::Kind::additive:
      if (form.activation != Activation::tanh) refuse_score("the additive score's activation must be tanh");
      if (form.coverage) refuse_score("the additive score's coverage is kept by the decoder");
      d.kind = Kind::additive;
      if (form.query) project_query(d, form.query.w, form.query.b, Trans::yes, d.units);
      if (form.key && !form.key.b) {
        d.key_view = form.key.w.value().contiguous().slice(1, form.key.first, form.key.first + d.memory_width);
      }
      d.vector = form.vector;
      d.coverage_weight = form.coverage_weight;
      break;
    case ScoreForm::Kind::location:
      d.kind = Kind::location;
      project_query(d, form.query.w, {}, Trans::yes, d.units);
      break;
    case ScoreForm::Kind::pairwise:
    case ScoreForm::Kind::block:
      refuse_score("a score of your own has no step; use attend()");
  }
}

Var keys_of(const Decoder& d, const Var& memory) {
  const ScoreForm& form = d.score;
  switch (form.kind) {
    case ScoreForm::Kind::general:
      return form.general.b ? memory : attention::project(memory, form.general.w, {});
    case ScoreForm::Kind::cosine:
      return attention::unit_rows(memory, form.epsilon);
    case ScoreForm::Kind::additive:
      return form.key(memory);
    case ScoreForm::Kind::location:
      if (form.dim < memory.dim(1)) {
        throw ShapeError(fmt::format("{}: score W {}: expected [L,{}] with L at least {}, the length of the memory",
                                     kOp, form.query.w.shape().text(), d.units, memory.dim(1)));
      }
      return {};
    default:
      return memory;
  }
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
