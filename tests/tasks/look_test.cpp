// Translator::look against the translation it looks at.
#include <gmock/gmock.h>

#include "fovea/error.hpp"
#include "support/scratch.hpp"
#include "support/tiny_model.hpp"
#include "tasks/translator.hpp"

namespace fovea {
namespace {

TEST(Look, SeesTheOutputAndTheWeightsOfTheSearch) {
  for (const auto& config : {test::tiny_transformer(), test::tiny_rnn()}) {
    const test::Scratch folder;
    test::write_tiny_model(folder.folder(), config, "en-de");
    const Translator translator(folder.folder());
    TranslateOptions how;
    how.search.want_attention = true;
    const std::vector<std::string> lines{"one two three", "four", "five six seven one two"};
    const auto batch = translator.translate(lines, how);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Look look = translator.look(lines[i], how);
      EXPECT_EQ(look.translation.text, batch[i][0].text);
      EXPECT_EQ(look.translation.weights, batch[i][0].weights);
      EXPECT_EQ(look.translation.log_probability, batch[i][0].log_probability);
      ASSERT_EQ(look.weights.size(), static_cast<std::size_t>(look.layers * look.heads));
      // The same bytes as a search that tells of one layer and head alone.
      for (int l = 0; l < look.layers; ++l) {
        for (int h = 0; h < look.heads; ++h) {
          TranslateOptions one = how;
          one.attention = {l, h};
          const auto alone = translator.translate(std::vector{lines[i]}, one);
          EXPECT_EQ(look.weights[static_cast<std::size_t>(l * look.heads + h)], alone[0][0].weights);
        }
      }
    }
  }
}

TEST(Look, MergesWordsInEveryHead) {
  const test::Scratch folder;
  test::write_tiny_model(folder.folder(), test::tiny_transformer(), "en-de");
  const Translator translator(folder.folder());
  TranslateOptions how;
  how.merge_words = true;
  const Look look = translator.look("one two", how);
  for (const auto& head : look.weights) {
    ASSERT_EQ(head.size(), look.translation.target_tokens.size());
    for (const auto& row : head) EXPECT_EQ(row.size(), look.translation.source_tokens.size());
  }
  EXPECT_THROW((void)translator.look("  ", {}), UsageError);
}

}  // namespace
}  // namespace fovea
