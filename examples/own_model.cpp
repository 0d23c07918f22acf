// An encoder-decoder with attention built from layers, trained with Adam to copy its input, decoded with beam search.
#include <cstdio>
#include <random>

#include "fovea/fovea.hpp"

using namespace fovea;
constexpr int kWords = 20, kDim = 32;  // ids 0 to 3 are padding, unknown, begin and end

struct CopyModel {
  Embedding embedding;
  Gru encoder, decoder;
  Linear mix, output;
  explicit CopyModel(Parameters& p)
      : embedding(p, "embedding", kWords, kDim),
        encoder(p, "encoder", kDim, kDim),
        decoder(p, "decoder", kDim, kDim),
        mix(p, "mix", 2 * kDim, kDim),
        output(p, "output", kDim, kWords) {}

  Var embed(const Tokens& t) const { return embedding(t.ids, {t.batch, t.length}); }
  Recurrent encode(const Tokens& source) const { return encoder(embed(source), {.lengths = source.lengths}); }

  // The decoder's states attend to the encoder's; what they read is mixed with what they are (Luong et al. 2015).
  Var decode(const Var& memory, std::span<const std::int64_t> lengths, const Var& first, const Tokens& target) const {
    const Var states = decoder(embed(target), {}, first).states;
    const Var context = attend(states, memory, memory, {.lengths = lengths}).context;
    return mix(concat(std::vector{context, states}, 2), Activation::tanh);  // [batch, length, kDim]
  }
};

// Hypotheses for search: each row is decoded again from its beginning, which is simple and fast enough here.
struct CopyStepper : Stepper {
  const CopyModel& model;
  Var memory, first;
  std::vector<std::vector<std::int32_t>> rows;
  CopyStepper(const CopyModel& m, const Recurrent& encoded)
      : model(m), memory(encoded.states), first(encoded.last), rows(encoded.states.dim(0)) {}
  Tensor step(std::span<const std::int32_t> tokens) override {
    for (std::size_t r = 0; r < rows.size(); ++r) rows[r].push_back(tokens[r]);
    PaddedTokens target;
    target.fill(rows.size(), Marks::none, [&](std::int64_t r) { return std::span<const std::int32_t>(rows[r]); });
    const Var states = model.decode(memory, {}, first, target.view());
    return model.output(select(states, 1, states.dim(1) - 1)).value();  // logits of the next token, [rows, words]
  }
  void keep(std::span<const std::int32_t> kept) override {
    std::vector<std::vector<std::int32_t>> next;
    for (const auto r : kept) next.push_back(rows[r]);
    rows = next;
    memory = gather(memory, kept);
    first = gather(first, kept);
  }
};

int main() {
  Parameters parameters(1);
  const CopyModel model(parameters);
  Adam adam(parameters, {.rate = 5e-3F, .clip = 1});
  std::mt19937 random(1);
  for (int step = 0; step <= 300; ++step) {
    std::vector<std::vector<std::int32_t>> lines(16, std::vector<std::int32_t>(3 + random() % 4));
    for (auto& line : lines) std::generate(line.begin(), line.end(), [&] { return special_ids + random() % 16; });
    const auto line = [&](std::int64_t r) { return std::span<const std::int32_t>(lines[r]); };
    PaddedTokens source, target, wanted;
    source.fill(16, Marks::end, line), target.fill(16, Marks::begin, line), wanted.fill(16, Marks::end, line);
    const Recurrent memory = model.encode(source.view());
    const Var states = model.decode(memory.states, source.view().lengths, memory.last, target.view());
    const auto cost = linear_cross_entropy(states, model.output.weight.var, model.output.bias, wanted.view().ids,
                                           {.transposed = true});
    if (step % 100 == 0) std::fprintf(stderr, "step %3d  loss %.3f per token\n", step, cost.nll / cost.tokens);
    backward(cost.loss / cost.tokens);
    adam.step();
  }
  PaddedTokens source;
  source.fill(1, Marks::end, [](std::int64_t) { return std::vector<std::int32_t>{7, 19, 4, 12, 9}; });
  CopyStepper stepper(model, model.encode(source.view()));
  const auto best = search(stepper, std::vector<SearchInput>{{.source_length = 6}}, {.beam = 4});
  for (const auto token : best[0][0].tokens) std::printf("%d ", token);  // 7 19 4 12 9
}
