#include "tasks/learning/tagger.hpp"

#include <algorithm>
#include <chrono>

#include "fovea/model/encoder.hpp"
#include "fovea/nn/embedding.hpp"
#include "fovea/nn/linear.hpp"
#include "fovea/ops.hpp"
#include "fovea/train/adam.hpp"

namespace fovea::learning {
namespace {

constexpr int kTestLines = 100;

// Lines padded to one batch, with their labels.
struct TaggedBatch {
  PaddedTokens words, labels;

  TaggedBatch(int lines, const std::function<TaggedLine(Rng&)>& line, Rng& random) {
    std::vector<TaggedLine> all;
    all.reserve(static_cast<std::size_t>(lines));
    for (int i = 0; i < lines; ++i) all.push_back(line(random));
    words.fill(lines, Marks::none, [&](std::int64_t r) { return all[static_cast<std::size_t>(r)].ids; });
    labels.fill(lines, Marks::none, [&](std::int64_t r) { return all[static_cast<std::size_t>(r)].labels; });
  }
};

}  // namespace

struct Tagger::Model {
  Embedding embedding;
  std::unique_ptr<Encoder> encoder;
  Linear output;

  Model(const TaggerTraining& how, Parameters& p)
      : embedding(p, "embedding", how.vocabulary, how.encoder.dim),
        encoder(make_encoder(how.encoder, how.encoder.dim, p)),
        output(p, "output", how.encoder.dim, how.labels) {}

  [[nodiscard]] Var states(const Tokens& words, Pass& pass) const {
    return encoder->encode({embedding(words.ids, {words.batch, words.length}), words.lengths}, pass).states;
  }
  [[nodiscard]] CrossEntropy cost(const TaggedBatch& batch, float smoothing = 0) const {
    Pass pass;
    return linear_cross_entropy(states(batch.words.view(), pass), output.weight.var, output.bias,
                                batch.labels.view().ids, {.label_smoothing = smoothing, .transposed = true});
  }
};

Tagger::Tagger(const TaggerTraining& how, const Watch& watch) : how_(how), parameters_(how.seed) {
  const auto began = std::chrono::steady_clock::now();
  const Model model(how_, parameters_);
  Adam adam(parameters_, {.rate = how.rate, .beta2 = 0.98F, .weight_decay = how.weight_decay, .clip = 1});
  Rng random(how.seed);
  for (int step = 0; step < how.steps; ++step) {
    const TaggedBatch batch(how.batch, how.line, random);
    const CrossEntropy cost = model.cost(batch, how.label_smoothing);
    const auto outputs = static_cast<double>(cost.tokens);
    watch.at({how.name, step + 1, how.steps, cost.nll / outputs});
    backward(scale(cost.loss, static_cast<float>(1 / outputs)));
    const double left = std::min(1.0, 3.0 * (how.steps - step) / how.steps);
    adam.step(how.rate * left);
  }
  const NoGrad quiet;
  const CrossEntropy cost = model.cost({kTestLines, how.line, random});
  right_ = static_cast<double>(cost.correct) / static_cast<double>(cost.tokens);
  seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

Tagger::Run Tagger::run(const std::vector<std::int32_t>& ids, const Interventions& changes) const {
  const NoGrad quiet;
  Parameters weights = parameters_.replica();
  const Model model(how_, weights);
  PaddedTokens words;
  words.fill(1, Marks::none, [&](std::int64_t) { return ids; });
  Run run;
  Pass pass;
  pass.trace = &run.trace;
  pass.interventions = &changes;
  const Var logits = model.output(model.states(words.view(), pass));
  run.probs = softmax(logits).value().reshape({static_cast<std::int64_t>(ids.size()), how_.labels});
  return run;
}

}  // namespace fovea::learning
