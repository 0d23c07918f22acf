// Loads a model folder and translates with beam search; shows which source token each target token attended to most.
#include <cstdio>

#include "fovea/fovea.hpp"

int main(int count, char** arguments) {
  const fovea::Translator translator(count > 1 ? arguments[1] : "build/demo/model");
  const std::vector<std::string> lines{count > 2 ? arguments[2] : "3 March 2021"};
  const auto best = translator.translate(lines, {.beam = 5, .n_best = 2, .attention = true});
  for (const fovea::Generated& one : best[0]) std::printf("%8.3f  %s\n", one.score, one.text.c_str());
  const fovea::AttentionRecord& seen = best[0][0].attention;
  for (std::int64_t t = 0; t < seen.weights.rows; ++t) {
    std::int64_t most = 0;  // the source token with the largest weight
    for (std::int64_t s = 1; s < seen.weights.columns; ++s) {
      if (seen.weights.at(t, s) > seen.weights.at(t, most)) most = s;
    }
    std::printf("%s attended to %s\n", seen.target[t].c_str(), seen.source[most].c_str());
  }
}
