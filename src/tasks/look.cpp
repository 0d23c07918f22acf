// Translator::look: the search is run once more on its own result, a token at a time, to see every layer and head. A
// row's numbers do not depend on the other rows, so these are the weights that the search had.
#include <numeric>

#include "fovea/error.hpp"
#include "fovea/text.hpp"
#include "tasks/translator.hpp"
#include "text/words.hpp"

namespace fovea {
namespace {

using Matrix = std::vector<std::vector<float>>;

std::vector<float> normalised(const float* row, std::int64_t width) {
  std::vector<float> weights(row, row + width);
  const float sum = std::accumulate(weights.begin(), weights.end(), 0.0F);
  for (float& w : weights) w = sum > 0 ? w / sum : w;
  return weights;
}

// One matrix [tokens and the end, source] per layer and head.
void walk(Stepper& stepper, const std::vector<std::int32_t>& tokens, Look& look) {
  std::int32_t last = bos_id;
  for (std::size_t t = 0; t <= tokens.size(); ++t) {
    (void)stepper.step({&last, 1});
    const auto layers = stepper.layer_attention();
    if (layers.empty()) return;
    look.layers = static_cast<std::int64_t>(layers.size());
    look.heads = layers[0].dim(1);
    look.weights.resize(static_cast<std::size_t>(look.layers * look.heads));
    for (std::int64_t l = 0; l < look.layers; ++l) {
      const Tensor& layer = layers[static_cast<std::size_t>(l)];  // [1, heads, source]
      for (std::int64_t h = 0; h < look.heads; ++h) {
        look.weights[static_cast<std::size_t>(l * look.heads + h)].push_back(
            normalised(layer.data() + h * layer.dim(2), layer.dim(2)));
      }
    }
    if (t < tokens.size()) last = tokens[t];
  }
}

}  // namespace

Look Translator::look(const std::string& line, const TranslateOptions& options) const {
  TranslateOptions how = options;
  how.search.want_attention = true;
  how.search.n_best = 1;
  how.merge_words = false;
  how.search.longest = longest_output();
  check(how);
  Line read;
  tokenizers_.source->encode(line, read.ids, &read.pieces);
  if (read.ids.empty()) throw UsageError("attention: the line holds no text");
  const NoGrad quiet;
  std::vector<std::int32_t> ids = read.ids;
  ids.push_back(eos_id);
  const std::vector<std::int64_t> lengths{static_cast<std::int64_t>(ids.size())};
  check_length(lengths[0], how.first_line);
  const Reading reading(members_, {ids, lengths, 1, lengths[0]});
  const std::vector<SearchInput> inputs{{lengths[0], static_cast<std::uint64_t>(how.first_line), {}}};
  std::vector<BeamTree> trees;
  const auto found = search(*reading.start(true, how.attention), inputs, how.search, &trees);
  if (found[0].empty()) throw Error("attention: the model gave no output; its weights may hold NaN");

  Look look;
  look.translation = finish(read, found[0][0], how);
  look.beam = std::move(trees[0]);
  for (const auto& node : look.beam.nodes) {
    look.beam_tokens.push_back(node.step == 0 ? std::string() : tokenizers_.target->piece(node.token));
  }
  walk(*reading.start(true), found[0][0].tokens, look);
  if (options.merge_words && !look.translation.weights.empty()) {
    Translation& t = look.translation;
    const auto source = text::words_of_pieces(tokenizers_.source->kind(), t.source_tokens);
    const auto target = text::words_of_pieces(tokenizers_.target->kind(), t.target_tokens);
    for (Matrix& m : look.weights) m = text::merge_attention(m, source, target);
    t.weights = text::merge_attention(t.weights, source, target);
    t.source_tokens = source.words;
    t.target_tokens = target.words;
  }
  return look;
}

}  // namespace fovea
