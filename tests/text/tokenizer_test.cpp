#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sentencepiece_trainer.h>

#include <cmath>

#include "fovea/error.hpp"
#include "fovea/text.hpp"
#include "support/files.hpp"

namespace fovea {
namespace {

using test::TemporaryFolder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using Lines = std::vector<std::string>;
using Ids = std::vector<std::int32_t>;

const Lines text{"the cat sat on the mat", "the dog saw the cat", "a dog and a cat",
                 "看小猫，它好可爱。",     "小猫和小狗",          "On 3 March 2021, the cat sat."};

TokenizerOptions kind(TokenizerKind k, std::int32_t vocab = 200) {
  return {.kind = k, .vocab = vocab};
}

class EveryTokenizer : public testing::TestWithParam<TokenizerOptions> {};
INSTANTIATE_TEST_SUITE_P(Kinds, EveryTokenizer,
                         testing::Values(kind(TokenizerKind::sentencepiece), kind(TokenizerKind::word),
                                         kind(TokenizerKind::character), kind(TokenizerKind::label),
                                         TokenizerOptions{.vocab = 120, .subwords = TokenizerOptions::Subwords::bpe}));

TEST_P(EveryTokenizer, GivesTheLineBack) {
  const auto tokenizer = train_tokenizer(text, GetParam()).tokenizer;
  for (const std::string& line : text) {
    const Ids ids = tokenizer->encode(line);
    EXPECT_EQ(tokenizer->decode(ids), line);
    for (const std::int32_t id : ids) {
      EXPECT_GE(id, special_ids);
      EXPECT_LT(id, tokenizer->size());
    }
  }
}

TEST_P(EveryTokenizer, SampledSubwordsGiveTheLineBackAndFollowTheSeed) {
  const auto tokenizer = train_tokenizer(text, GetParam()).tokenizer;
  if (tokenizer->kind() != TokenizerKind::sentencepiece) {
    EXPECT_THROW((void)tokenizer->sample(text, 0.1, 1), UsageError);
    return;
  }
  for (const double wrong : {0.0, 1.0, -0.5, std::nan("")}) {
    EXPECT_THROW((void)tokenizer->sample(text, wrong, 1), UsageError) << wrong;
  }
  Lines lines = text;
  lines.emplace_back("");
  const auto cuts = tokenizer->sample(lines, 0.1, 1);
  ASSERT_EQ(cuts.size(), lines.size());
  std::size_t others = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(tokenizer->decode(cuts[i]), lines[i]);
    others += cuts[i] == tokenizer->encode(lines[i]) ? 0 : 1;
  }
  EXPECT_GE(others, 2U);
  EXPECT_EQ(tokenizer->sample(lines, 0.1, 1), cuts);
  EXPECT_NE(tokenizer->sample(lines, 0.1, 2), cuts);
}

TEST(SampledBytePairs, AreTheUsualOnesWhenFewMergesAreLeftOutAndCharactersWhenNearlyAll) {
  const auto tokenizer = train_tokenizer(text, {.vocab = 120, .subwords = TokenizerOptions::Subwords::bpe}).tokenizer;
  const auto few = tokenizer->sample(text, 1e-6, 3);
  const auto most = tokenizer->sample(text, 1 - 1e-6, 3);
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_EQ(few[i], tokenizer->encode(text[i]));
    for (const std::int32_t id : most[i]) {
      const std::string& piece = tokenizer->piece(id);
      EXPECT_LE(std::count_if(piece.begin(), piece.end(), [](char c) { return (c & 0xC0) != 0x80; }), 1) << piece;
    }
  }
}

TEST_P(EveryTokenizer, SpecialIdsAreWhereEveryoneExpectsThemAndLeaveNoTrace) {
  const auto tokenizer = train_tokenizer(text, GetParam()).tokenizer;
  EXPECT_EQ(tokenizer->piece(pad_id), "<pad>");
  EXPECT_EQ(tokenizer->piece(unk_id), "<unk>");
  EXPECT_EQ(tokenizer->piece(bos_id), "<s>");
  EXPECT_EQ(tokenizer->piece(eos_id), "</s>");
  Ids ids = tokenizer->encode(text[0]);
  ids.insert(ids.begin(), bos_id);
  ids.insert(ids.end(), {eos_id, pad_id, pad_id});
  EXPECT_EQ(tokenizer->decode(ids), text[0]);
}

TEST_P(EveryTokenizer, EmptyLinesHaveNoTokens) {
  const auto tokenizer = train_tokenizer(text, GetParam()).tokenizer;
  EXPECT_THAT(tokenizer->encode(""), ElementsAre());
  EXPECT_THAT(tokenizer->encode(" \t\u3000"), ElementsAre());
  EXPECT_EQ(tokenizer->decode({}), "");
}

TEST_P(EveryTokenizer, TheSpellingOfASpecialTokenIsNotTheToken) {
  Lines lines = text;
  lines.push_back("</s> <s> <pad> <unk>");
  const auto tokenizer = train_tokenizer(lines, GetParam()).tokenizer;
  std::vector<std::string> pieces;
  Ids ids;
  for (const char* line : {"</s>", "<pad> x", "<s>"}) {
    tokenizer->encode(line, ids, &pieces);
    EXPECT_EQ(ids.size(), pieces.size());
    for (const std::int32_t id : ids) EXPECT_TRUE(id == unk_id || id >= special_ids) << line;
  }
}

TEST_P(EveryTokenizer, SavesAndLoads) {
  const TemporaryFolder folder;
  const auto tokenizer = train_tokenizer(text, GetParam()).tokenizer;
  tokenizer->save(folder.path(), "source");
  const auto again = load_tokenizer(folder.path(), "source");
  EXPECT_EQ(again->kind(), tokenizer->kind());
  EXPECT_EQ(again->size(), tokenizer->size());
  for (const std::string& line : text) EXPECT_EQ(again->encode(line), tokenizer->encode(line));
}

TEST_P(EveryTokenizer, TheSameTextGivesTheSameTokenizer) {
  const TemporaryFolder folder;
  train_tokenizer(text, GetParam()).tokenizer->save(folder.path(), "a");
  train_tokenizer(text, GetParam()).tokenizer->save(folder.path(), "b");
  for (const char* extension : {".model", ".json"}) {
    EXPECT_EQ(folder.read(std::string("a") + extension), folder.read(std::string("b") + extension));
  }
}

TEST_P(EveryTokenizer, UnknownTextBecomesUnkAndItsPieceKeepsTheText) {
  const auto tokenizer = train_tokenizer(text, GetParam()).tokenizer;
  Ids ids;
  std::vector<std::string> pieces;
  tokenizer->encode("Ω", ids, &pieces);
  ASSERT_EQ(ids.size(), pieces.size());
  EXPECT_EQ(ids.back(), unk_id);
  EXPECT_THAT(pieces.back(), HasSubstr("Ω"));
}

TEST_P(EveryTokenizer, IdsThatDoNotExistAreErrors) {
  const auto tokenizer = train_tokenizer(text, GetParam()).tokenizer;
  EXPECT_THROW((void)tokenizer->piece(tokenizer->size()), UsageError);
  EXPECT_THROW((void)tokenizer->piece(-1), UsageError);
  EXPECT_THROW((void)tokenizer->decode(Ids{5, 1 << 30}), UsageError);
}

TEST_P(EveryTokenizer, TextWithNothingInItIsAnError) {
  EXPECT_THROW((void)train_tokenizer(Lines{}, GetParam()), UsageError);
  EXPECT_THROW((void)train_tokenizer({"", " \t ", "\u3000"}, GetParam()), UsageError);
}

TEST(WordTokenizer, NumbersWordsByFrequencyThenSpelling) {
  const auto [tokenizer, report] = train_tokenizer({"b a c", "c a d", "c"}, kind(TokenizerKind::word));
  EXPECT_EQ(tokenizer->piece(4), "c");
  EXPECT_EQ(tokenizer->piece(5), "a");
  EXPECT_EQ(tokenizer->piece(6), "b");
  EXPECT_EQ(tokenizer->piece(7), "d");
  EXPECT_EQ(report.size, 8);
  EXPECT_EQ(report.left_out, 0);
}

TEST(WordTokenizer, CutsByFrequencyAndSizeAndReportsWhatIsLost) {
  const Lines lines{"a a a b b c"};
  auto [cut, report] = train_tokenizer(lines, {.kind = TokenizerKind::word, .vocab = 100, .min_count = 2});
  EXPECT_EQ(cut->size(), 6);
  EXPECT_EQ(report.left_out, 1);
  EXPECT_NEAR(report.unknown_share, 1.0 / 6, 1e-12);
  EXPECT_EQ(cut->encode("c"), Ids{unk_id});
  EXPECT_EQ(train_tokenizer(lines, kind(TokenizerKind::word, 5)).tokenizer->size(), 5);
  EXPECT_THROW((void)train_tokenizer(lines, {.kind = TokenizerKind::word, .min_count = 9}), UsageError);
  EXPECT_THROW((void)train_tokenizer(lines, kind(TokenizerKind::word, 4)), UsageError);
}

std::vector<std::string> pieces_of(const Tokenizer& tokenizer, const std::string& line) {
  Ids ids;
  std::vector<std::string> pieces;
  tokenizer.encode(line, ids, &pieces);
  return pieces;
}

TEST(WordTokenizer, FindsTheWordsOfTextWithoutSpacesAndGivesItBack) {
  const Lines lines{"看小猫，它好可爱",
                    "我用iPhone拍照",
                    "我用 iPhone 拍照。",
                    "3月3日",
                    "今天是 2021年 3月。",
                    "สวัสดีครับ Tom",
                    "猫が好きです",
                    "the U.S. cat, 小猫!",
                    "小猫▁▁ ▁ ▁▁ 小猫 ▁",
                    "a ▁ b",
                    "▁",
                    "“好！”他说……",
                    "한국어 猫"};
  const TemporaryFolder folder;
  train_tokenizer(lines, kind(TokenizerKind::word)).tokenizer->save(folder.path(), "t");
  const auto tokenizer = load_tokenizer(folder.path(), "t");
  for (const std::string& line : lines) {
    const Ids ids = tokenizer->encode(line);
    EXPECT_THAT(ids, testing::Not(Contains(unk_id))) << line;
    EXPECT_EQ(tokenizer->decode(ids), line);
    EXPECT_EQ(tokenizer->join(pieces_of(*tokenizer, line)), line);
  }
  EXPECT_THAT(pieces_of(*tokenizer, "看小猫，它好可爱"), ElementsAre("看", "小猫", "，", "它", "好", "可爱"));
  EXPECT_THAT(pieces_of(*tokenizer, "我用iPhone拍照"), ElementsAre("我", "用", "iPhone", "拍照"));
  EXPECT_THAT(pieces_of(*tokenizer, "我用 iPhone拍照"), ElementsAre("我", "用", "▁", "iPhone", "拍照"));
  EXPECT_THAT(pieces_of(*tokenizer, "the U.S. cat,"), ElementsAre("the", "U.S.", "cat,"));
}

TEST(WordTokenizer, KeepsTextThatIsCutWithSpacesAsItIs) {
  const TemporaryFolder folder;
  const Lines lines{"小猫 很 好可爱 。", "か な", "小猫 很 好", "the cat ▁"};
  train_tokenizer(lines, kind(TokenizerKind::word)).tokenizer->save(folder.path(), "t");
  EXPECT_THAT(folder.read("t.json"), HasSubstr("\"version\": 1"));
  const auto tokenizer = load_tokenizer(folder.path(), "t");
  EXPECT_THAT(pieces_of(*tokenizer, "小猫 好可爱 。"), ElementsAre("小猫", "好可爱", "。"));
  for (const std::string& line : lines) EXPECT_EQ(tokenizer->decode(tokenizer->encode(line)), line);
}

TEST(WordTokenizer, WhatAModelWritesHasOneSpaceBetweenWords) {
  const auto tokenizer = train_tokenizer({"小猫好可爱", "a b", "小猫 b"}, kind(TokenizerKind::word)).tokenizer;
  const Lines written{"▁", "小猫", "▁", "▁", "a", "▁", "b", "好", "</s>x", "可爱", "▁"};
  EXPECT_EQ(tokenizer->join(written), "小猫 a b好</s>x可爱");
}

TEST(LabelTokenizer, TakesTheWholeLineAndNeverLosesAClass) {
  const Lines lines{"very good", "bad", "very good"};
  const auto tokenizer = train_tokenizer(lines, kind(TokenizerKind::label)).tokenizer;
  EXPECT_EQ(tokenizer->encode(" very good "), Ids{4});
  EXPECT_EQ(tokenizer->encode("bad"), Ids{5});
  EXPECT_THROW((void)train_tokenizer(lines, kind(TokenizerKind::label, 5)), UsageError);
}

TEST(CharacterTokenizer, ShowsASpaceAndTakesChineseApart) {
  const auto tokenizer = train_tokenizer(text, kind(TokenizerKind::character)).tokenizer;
  std::vector<std::string> pieces;
  Ids ids;
  tokenizer->encode("小猫  a", ids, &pieces);
  EXPECT_THAT(pieces, ElementsAre("小", "猫", "▁", "a"));
}

TEST(CharacterTokenizer, DistinguishesASpaceFromItsMarkInTheText) {
  const Lines lines{"a▁b ▁ c", "▁", "▁▁ ▁"};
  const auto tokenizer = train_tokenizer(lines, kind(TokenizerKind::character)).tokenizer;
  for (const std::string& line : lines) EXPECT_EQ(tokenizer->decode(tokenizer->encode(line)), line);
  EXPECT_EQ(tokenizer->join(Lines{"a", "▁", "▁▁"}), "a ▁");
}

TEST(SentencePieceTokenizer, JoinsItsPieces) {
  const auto tokenizer = train_tokenizer(text, kind(TokenizerKind::sentencepiece)).tokenizer;
  for (const std::string& line : text) EXPECT_EQ(tokenizer->join(pieces_of(*tokenizer, line)), line);
}

TEST(SentencePieceTokenizer, TakesFewerPiecesWhenTheTextGivesFewer) {
  const auto [tokenizer, report] = train_tokenizer(text, kind(TokenizerKind::sentencepiece, 30000));
  EXPECT_EQ(report.asked, 30000);
  EXPECT_EQ(report.size, tokenizer->size());
  EXPECT_LT(report.size, 200);
}

TEST(SentencePieceTokenizer, RareCharactersGiveWayWhenTheVocabularyIsSmall) {
  Lines lines;
  for (char32_t c = 0x4E00; c < 0x4E00 + 400; ++c) {
    std::string line;
    for (int i = 0; i < 3; ++i) {
      line += static_cast<char>(0xE0 | (c >> 12));
      line += static_cast<char>(0x80 | (c >> 6 & 0x3F));
      line += static_cast<char>(0x80 | (c & 0x3F));
      line += "的是";
    }
    lines.push_back(line);
  }
  const auto [tokenizer, report] = train_tokenizer(lines, kind(TokenizerKind::sentencepiece, 100));
  EXPECT_LE(tokenizer->size(), 100);
  EXPECT_GT(report.left_out, 300);
  EXPECT_GT(report.unknown_share, 0.2);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("的是的")), "的是的");
  EXPECT_THROW((void)train_tokenizer(lines, kind(TokenizerKind::sentencepiece, 11)), UsageError);
  EXPECT_LE(train_tokenizer(lines, kind(TokenizerKind::sentencepiece, 12)).tokenizer->size(), 12);
}

TEST(SentencePieceTokenizer, KeepsWidePunctuationAsItIs) {
  const auto tokenizer = train_tokenizer(text, kind(TokenizerKind::sentencepiece)).tokenizer;
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("它，好。")), "它，好。");
}

TEST(SentencePieceTokenizer, OneVocabularyForTwoTexts) {
  const Lines english{"the cat", "the dog"};
  const Lines chinese{"小猫", "小狗"};
  const auto tokenizer = train_shared_tokenizer(english, chinese, kind(TokenizerKind::sentencepiece)).tokenizer;
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("the 小狗")), "the 小狗");
}

TEST(SentencePieceTokenizer, TextMadeOfItsOwnMarksIsAnErrorNotTheEnd) {
  EXPECT_THROW((void)train_tokenizer({"▁ ▁", "▅"}, kind(TokenizerKind::sentencepiece)), UsageError);
  const auto tokenizer = train_tokenizer({"a ▁ b", "c d"}, kind(TokenizerKind::sentencepiece)).tokenizer;
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("c d")), "c d");
}

// As SentencePiece trains by default: other special ids, none for padding, and NFKC.
std::string foreign_model() {
  class Iterator final : public sentencepiece::SentenceIterator {
   public:
    [[nodiscard]] bool done() const override { return at_ >= text.size(); }
    void Next() override { ++at_; }
    [[nodiscard]] const std::string& value() const override { return text[at_]; }
    [[nodiscard]] sentencepiece::util::Status status() const override { return {}; }

   private:
    std::size_t at_ = 0;
  } lines;
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      {{"vocab_size", "60"}, {"hard_vocab_limit", "false"}, {"minloglevel", "3"}}, &lines, &model);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return model;
}

TEST(LoadSentencePiece, TakesModelsMadeElsewhere) {
  const TemporaryFolder folder;
  const auto tokenizer = load_sentencepiece(folder.write("their.model", foreign_model()));
  EXPECT_EQ(tokenizer->piece(pad_id), "<pad>");
  EXPECT_EQ(tokenizer->piece(unk_id), "<unk>");
  EXPECT_EQ(tokenizer->piece(eos_id), "</s>");
  for (const std::int32_t id : tokenizer->encode("the cat sat")) EXPECT_GE(id, special_ids);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("the ｃａｔ sat")), "the cat sat");
  EXPECT_THAT(tokenizer->encode("Ω"), Contains(unk_id));
  tokenizer->save(folder.path(), "copy");
  EXPECT_EQ(load_tokenizer(folder.path(), "copy")->encode("the dog"), tokenizer->encode("the dog"));
}

TEST(LoadSentencePiece, DamageInTheCharacterMapIsFoundBeforeItIsFollowed) {
  const TemporaryFolder folder;
  const std::string model = foreign_model();
  int refused = 0;
  for (std::size_t at = model.size() / 4; at < model.size(); at += 4099) {
    std::string damaged = model;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x5A);
    try {
      const auto tokenizer = load_sentencepiece(folder.write("damaged.model", damaged));
      (void)tokenizer->encode("the ｃａｔ ① sat 小猫");
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

TEST(LoadTokenizer, MissingAndDamagedFilesAreErrorsThatNameThem) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& name) -> std::string {
    try {
      (void)load_tokenizer(folder.path(), name);
    } catch (const FileError& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_THAT(error("none"), HasSubstr("none.model or .json: no such tokenizer"));
  folder.write("a.model", "not a model");
  EXPECT_THAT(error("a"), HasSubstr(folder.path("a.model") + ": not a SentencePiece model: "));
  folder.write("empty.model", "");
  EXPECT_EQ(error("empty"), folder.path("empty.model") + ": not a SentencePiece model: no pieces");
  folder.write("b.json", "{");
  EXPECT_EQ(error("b"), folder.path("b.json") + ": not valid JSON at byte 2");
  folder.write("c.json", R"({"format":"other"})");
  EXPECT_THAT(error("c"), HasSubstr("c.json: not a vocabulary"));
  const std::string head = R"({"format":"fovea-vocabulary","version":1,"kind":)";
  folder.write("d.json", head + R"("words","tokens":[]})");
  EXPECT_THAT(error("d"), HasSubstr("\"kind\" is not word, char or label"));
  folder.write("e.json", head + R"("word","tokens":["<pad>","<unk>","<s>"]})");
  EXPECT_THAT(error("e"), HasSubstr("\"tokens\" is not a list"));
  folder.write("f.json", head + R"("word","tokens":["<pad>","<unk>","</s>","<s>"]})");
  EXPECT_THAT(error("f"), HasSubstr("token 2 is not <s>"));
  folder.write("g.json", head + R"("word","tokens":["<pad>","<unk>","<s>","</s>","a","a"]})");
  EXPECT_THAT(error("g"), HasSubstr("token 5 is empty, special or a duplicate"));
  folder.write("h.json", head + R"("word","tokens":["<pad>","<unk>","<s>","</s>",7]})");
  EXPECT_THAT(error("h"), HasSubstr("token 4 is not a string"));
  folder.write("i.json", R"({"format":"fovea-vocabulary","version":3,"kind":"word"})");
  EXPECT_THAT(error("i"), HasSubstr("\"version\" is not 1 or 2"));
  folder.write("j.json", R"({"format":"fovea-vocabulary","version":2,"kind":"char"})");
  EXPECT_THAT(error("j"), HasSubstr("\"version\" 2 is for \"kind\" word only"));
  const auto trained = train_tokenizer(text, kind(TokenizerKind::sentencepiece)).tokenizer;
  trained->save(folder.path(), "good");
  const std::string bytes = folder.read("good.model");
  folder.write("cut.model", bytes.substr(0, bytes.size() - 3));
  EXPECT_EQ(error("cut"), folder.path("cut.model") + ": not a SentencePiece model: cut short");
}

TEST(LoadTokenizer, ANewKindReplacesTheOldFile) {
  const TemporaryFolder folder;
  train_tokenizer(text, kind(TokenizerKind::sentencepiece)).tokenizer->save(folder.path(), "t");
  train_tokenizer(text, kind(TokenizerKind::word)).tokenizer->save(folder.path(), "t");
  EXPECT_EQ(load_tokenizer(folder.path(), "t")->kind(), TokenizerKind::word);
  train_tokenizer(text, kind(TokenizerKind::sentencepiece)).tokenizer->save(folder.path(), "t");
  EXPECT_EQ(load_tokenizer(folder.path(), "t")->kind(), TokenizerKind::sentencepiece);
}

TEST(TokenizerKindNames, GoBothWays) {
  for (const char* name : {"sentencepiece", "word", "char", "label"}) EXPECT_EQ(name_of(tokenizer_kind(name)), name);
  EXPECT_THROW((void)tokenizer_kind("wordpiece"), UsageError);
}

}  // namespace
}  // namespace fovea
