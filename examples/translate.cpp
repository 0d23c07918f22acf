// Loads a model folder and translates with beam search; shows which source token each target token attended to most.
#include <algorithm>
#include <cstdio>

#include "fovea/fovea.hpp"

int main(int count, char** arguments) {
  const fovea::Translator translator(count > 1 ? arguments[1] : "build/demo/model");
  const std::vector<std::string> lines{count > 2 ? arguments[2] : "3 March 2021"};
  const auto best = translator.translate(lines, {.beam = 5, .n_best = 2, .attention = true});
  for (const fovea::Translation& one : best[0]) std::printf("%8.3f  %s\n", one.score, one.text.c_str());
  const fovea::Translation& one = best[0][0];
  for (std::size_t t = 0; t < one.target_tokens.size(); ++t) {
    const auto& row = one.attention[t];  // a weight for each source token
    const auto most = std::max_element(row.begin(), row.end()) - row.begin();
    std::printf("%s attended to %s\n", one.target_tokens[t].c_str(), one.source_tokens[most].c_str());
  }
}
