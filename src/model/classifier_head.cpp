#include "fovea/model/classifier_head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {
namespace {

// The maximum of each feature over a sequence's rows without padding: [B, T, d] to [B, d].
Var max_rows(const Var& x, std::span<const std::int64_t> lengths) {
  const Tensor below = Tensor::zeros(x.shape());
  for (std::int64_t b = 0; b < x.dim(0); ++b) {
    for (std::int64_t t = lengths[static_cast<std::size_t>(b)]; t < x.dim(1); ++t) {
      below.select(0, b).select(0, t).fill(-1e30F);
    }
  }
  return max(add(x, Var(below)), 1);
}

}  // namespace

ClassifierHead::ClassifierHead(const ClassifierConfig& config, std::int64_t memory, Parameters& p) : config_(config) {
  std::int64_t width = memory;
  switch (config.pooling) {
    case Pooling::learned:
      learned_ = LearnedPooling(p, "pooling", {.dim = memory});
      break;
    case Pooling::context:
      context_ = ContextPooling(p, "pooling", memory, config.hidden);
      break;
    case Pooling::hops:
      // A = softmax(W2 tanh(W1 H'))  (Lin et al. 2017, eq. 5)
      to_hops_ = Linear(p, "pooling.hidden", memory, config.hidden, {.bias = false});
      hop_queries_ = p.get("pooling.hops", {config.hops, config.hidden},
                           Init::normal(1 / std::sqrt(static_cast<double>(config.hidden))));
      width = memory * config.hops;
      break;
    case Pooling::hierarchical:
      documents_.words = ContextPooling(p, "pooling.words", memory, config.hidden);
      if (config.sentence_dim > 0) {
        sentence_layer_ =
            RecurrentLayer(p, "pooling.gru", {.in = memory, .hidden = config.sentence_dim, .bidirectional = true});
        width = sentence_layer_.width();
      }
      documents_.sentences = ContextPooling(p, "pooling.sentences", width, config.hidden);
      break;
    default:
      break;
  }
  output_ = Linear(p, "output", width, config.labels);
}

// The words of each sentence, then the sentences of each text (Yang et al. 2016, section 2.2).
ClassifierHead::Pooled ClassifierHead::pool_documents(const Memory& memory, std::span<const std::int64_t> sentences,
                                                      Pass& pass, bool want_weights) const {
  if (sentences.empty()) throw ShapeError("sentences: hierarchical pooling needs the number of sentences of each text");
  std::function<Var(const Var&)> encode;
  if (config_.sentence_dim > 0) {
    encode = [&](const Var& x) { return pass.drop(sentence_layer_(x, {.lengths = sentences}).states); };
  }
  const auto read = documents_(memory.states, {.words = memory.lengths, .sentences = sentences}, encode, want_weights);
  if (!want_weights) return {read.document, {}, {}};
  const Shape words{read.word_weights.dim(0), 1, read.word_weights.dim(1)};
  const Shape texts{read.sentence_weights.dim(0), 1, read.sentence_weights.dim(1)};
  return {read.document, reshape(read.word_weights, words), reshape(read.sentence_weights, texts)};
}

ClassifierHead::Pooled ClassifierHead::pool(const Memory& memory, std::span<const std::int64_t> sentences, Pass& pass,
                                            bool want_weights) const {
  const std::int64_t batch = memory.states.dim(0);
  const WeightsRequest want{.weights = want_weights};
  const auto pooled = [&](const Attended& read) -> Pooled {
    return {reshape(read.context, {batch, read.context.dim(1) * read.context.dim(2)}),
            want_weights ? read.weights : Var(), Var()};
  };
  switch (config_.pooling) {
    case Pooling::learned:
      return pooled(learned_(memory.states, {.lengths = memory.lengths, .want = want}));
    case Pooling::context:
      return pooled(context_(memory.states, memory.lengths, want));
    case Pooling::hops: {
      const Var keys = to_hops_(memory.states, Activation::tanh);
      return pooled(
          attend(hop_queries_, keys, memory.states, {.score = score::Dot{}, .lengths = memory.lengths, .want = want}));
    }
    case Pooling::hierarchical:
      return pool_documents(memory, sentences, pass, want_weights);
    case Pooling::max:
      return {max_rows(memory.states, memory.lengths), {}, {}};
    case Pooling::last:
      return {memory.summary, {}, {}};
    default:
      return {mean_rows(memory.states, memory.lengths), {}, {}};
  }
}

BatchLoss ClassifierHead::loss(const Memory& memory, std::span<const std::int64_t> sentences,
                               std::span<const std::int32_t> labels, const LossOptions& how, Pass& pass) const {
  const bool penalized = how.hops_penalty > 0 && config_.pooling == Pooling::hops;
  const Pooled pooled = pool(memory, sentences, pass, penalized);
  const CrossEntropy cost = linear_cross_entropy(
      pass.drop(pooled.vector), output_.weight.var, output_.bias, labels,
      {.label_smoothing = how.label_smoothing, .padding = -1, .transposed = true, .r_drop = how.r_drop});
  BatchLoss out{cost.loss, cost.tokens, cost.nll, cost.correct};
  if (penalized) {
    const std::int64_t hops = config_.hops;
    const Tensor identity = Tensor::zeros({hops, hops});
    for (std::int64_t i = 0; i < hops; ++i) identity.data()[i * hops + i] = 1;
    const Var overlap = sub(matmul(pooled.weights, pooled.weights, {.transpose_b = true}), Var(identity));
    out.loss = add(out.loss, scale(sum(mul(overlap, overlap)), how.hops_penalty));
  }
  return out;
}

}  // namespace fovea
