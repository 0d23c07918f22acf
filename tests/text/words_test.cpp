#include "text/words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/error.hpp"

namespace fovea::text {
namespace {

using testing::ElementsAre;
using Pieces = std::vector<std::string>;

TEST(PieceWords, ANewWordBeginsAtTheMark) {
  const auto [words, of_piece] =
      words_of_pieces(TokenizerKind::sentencepiece, Pieces{"▁un", "believ", "able", "▁cat", "s", "</s>"});
  EXPECT_THAT(words, ElementsAre("unbelievable", "cats", "</s>"));
  EXPECT_THAT(of_piece, ElementsAre(0, 0, 0, 1, 1, 2));
}

TEST(PieceWords, AMarkAloneBelongsToTheNextPiece) {
  const auto [words, of_piece] = words_of_pieces(TokenizerKind::sentencepiece, Pieces{"▁", "T", "est", "▁", "猫", "."});
  EXPECT_THAT(words, ElementsAre("Test", "猫", "."));
  EXPECT_THAT(of_piece, ElementsAre(0, 0, 0, 1, 1, 2));
}

TEST(PieceWords, ChinesePiecesAreWords) {
  const auto [words, of_piece] =
      words_of_pieces(TokenizerKind::sentencepiece, Pieces{"▁看", "小猫", "，", "它", "ab", "c"});
  EXPECT_THAT(words, ElementsAre("看", "小猫", "，", "它", "abc"));
  EXPECT_THAT(of_piece, ElementsAre(0, 1, 2, 3, 4, 4));
}

TEST(PieceWords, ChinesePiecesMakeTheWordsOfTheText) {
  const auto [words, of_piece] =
      words_of_pieces(TokenizerKind::sentencepiece, Pieces{"▁看", "小", "猫", "，它", "好可", "爱", "▁a", "b", "</s>"});
  EXPECT_THAT(words, ElementsAre("看", "小猫", "，它", "好可爱", "ab", "</s>"));  // 好 可爱, but 好可 is one piece
  EXPECT_THAT(of_piece, ElementsAre(0, 1, 1, 2, 3, 3, 4, 4, 5));
  EXPECT_THAT(words_of_pieces(TokenizerKind::character, Pieces{"小", "猫", "可", "爱", "▁", "c", "▁▁", "d"}).words,
              ElementsAre("小猫", "可爱", "c▁d"));
  EXPECT_THAT(words_of_pieces(TokenizerKind::sentencepiece, Pieces{"▁", "▁x", "▁", "</s>"}).words,
              ElementsAre("x", "", "</s>"));
}

TEST(PieceWords, CharactersJoinBetweenSpaces) {
  const auto [words, of_piece] = words_of_pieces(TokenizerKind::character, Pieces{"3", "▁", "M", "a", "r", "</s>"});
  EXPECT_THAT(words, ElementsAre("3", "Mar", "</s>"));
  EXPECT_THAT(of_piece, ElementsAre(0, 1, 1, 1, 1, 2));
}

TEST(PieceWords, WordsStayAsTheyAre) {
  const auto [words, of_piece] = words_of_pieces(TokenizerKind::word, Pieces{"a", "▁b", "c"});
  EXPECT_THAT(words, ElementsAre("a", "▁b", "c"));
  EXPECT_THAT(of_piece, ElementsAre(0, 1, 2));
  EXPECT_THAT(words_of_pieces(TokenizerKind::word, Pieces{}).words, ElementsAre());
}

TEST(MergeAttention, AddsOverSourcePiecesAndAveragesOverTargetPieces) {
  const auto source = words_of_pieces(TokenizerKind::sentencepiece, Pieces{"▁un", "able", "▁x"});
  const auto target = words_of_pieces(TokenizerKind::sentencepiece, Pieces{"▁a", "b", "</s>"});
  const std::vector<float> weights{0.5F, 0.25F, 0.25F, 0, 0.25F, 0.75F, 0, 0, 1};
  EXPECT_THAT(merge_attention(weights, source, target), ElementsAre(0.5F, 0.5F, 0.0F, 1.0F));
  EXPECT_THROW((void)merge_attention(std::span(weights).first(6), source, target), UsageError);
  EXPECT_THROW((void)merge_attention(weights, words_of_pieces(TokenizerKind::word, Pieces{"a"}), target), UsageError);
}

TEST(MergeAttention, RowsBetweenChineseWordsStillSumToOne) {
  const auto source = words_of_pieces(TokenizerKind::character, Pieces{"小", "猫", "可", "爱", "</s>"});
  const auto target = words_of_pieces(TokenizerKind::sentencepiece, Pieces{"▁注", "意力", "机制", "</s>"});
  const std::vector<float> weights{0.5F, 0.25F, 0.25F, 0,     0,  //
                                   0,    0,     0.5F,  0.25F, 0.25F, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1};
  EXPECT_THAT(merge_attention(weights, source, target),
              ElementsAre(0.375F, 0.5F, 0.125F, 0.0F, 1.0F, 0.0F, 0.0F, 0.0F, 1.0F));
}

}  // namespace
}  // namespace fovea::text
