// Byte-level BPE: how text is cut, and that every byte comes back.
#include "text/tokenizer/byte_pairs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/error.hpp"
#include "support/files.hpp"
#include "support/scratch.hpp"
#include "text/unicode.hpp"
#include "text/words.hpp"

namespace fovea::text {
namespace {

using Strings = std::vector<std::string>;

Strings words(std::string_view text) {
  Strings out;
  for (const std::string_view word : byte_pair_words(text)) out.emplace_back(word);
  return out;
}

// What GPT-2's own pattern gives:
// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
TEST(BytePairs, WordsAreCutAsByThePattern) {
  EXPECT_EQ(words("Hello world's end!"), (Strings{"Hello", " world", "'s", " end", "!"}));
  EXPECT_EQ(words("we've 12abc, it'S"), (Strings{"we", "'ve", " 12", "abc", ",", " it", "'", "S"}));
  EXPECT_EQ(words("a  b"), (Strings{"a", " ", " b"}));
  EXPECT_EQ(words("a \t b"), (Strings{"a", " \t", " b"}));
  EXPECT_EQ(words("a\tb"), (Strings{"a", "\t", "b"}));
  EXPECT_EQ(words("a\n\nb  "), (Strings{"a", "\n", "\n", "b", "  "}));
  EXPECT_EQ(words(" 猫½ é…?"), (Strings{" 猫", "½", " é", "…?"}));
  EXPECT_EQ(words(" 's"), (Strings{" '", "s"}));
  EXPECT_EQ(words(""), (Strings{}));
}

std::vector<std::string> byte_tokens() {
  std::vector<std::string> tokens;
  char32_t next = 256;
  for (char32_t b = 0; b < 256; ++b) {
    std::string token;
    append_utf8(token, (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174 ? b : next++);
    tokens.push_back(token);
  }
  return tokens;
}

std::shared_ptr<const Tokenizer> some(const std::vector<Merge>& merges) {
  Vocabulary vocabulary;
  for (const std::string& token : byte_tokens()) (void)vocabulary.add(token);
  for (const auto& [a, b] : merges) (void)vocabulary.add(a + b);
  return std::make_shared<BytePairTokenizer>(vocabulary, merges, "f");
}

Strings pieces(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::int32_t> ids;
  Strings out;
  tokenizer.encode(text, ids, &out);
  return out;
}

TEST(BytePairs, MergesInTheOrderOfTheList) {
  const auto t = some({{"e", "r"}, {"h", "e"}, {"Ġ", "he"}, {"a", "a"}, {"aa", "a"}});
  EXPECT_EQ(pieces(*t, "her he"), (Strings{"h", "er", "Ġhe"}));  // er comes first
  EXPECT_EQ(pieces(*t, "aaaaa"), (Strings{"aa", "aaa"}));        // from the left, then longer ones
  EXPECT_EQ(pieces(*t, " é"), (Strings{"Ġ", "Ã", "©"}));
}

TEST(BytePairs, EveryTextComesBack) {
  const auto t = some({{"e", "r"}, {"Ġ", "Ġ"}, {"Ã", "©"}});
  std::string all;
  for (char32_t c = 1; c < 0x3000; c += 7) append_utf8(all, c);
  for (const std::string& text : {std::string("  two  spaces \t\r\n "), std::string("é猫🙂 naïve"), all,
                                  std::string("a\0b", 3), std::string(50000, 'e')}) {
    EXPECT_EQ(t->decode(t->encode(text)), text);
    EXPECT_EQ(t->join(pieces(*t, text)), text);
  }
  const auto ids = t->encode("é");  // merged: one token; as two bytes each alone is no character
  ASSERT_EQ(ids.size(), 1U);
  const auto apart = some({})->encode("é");
  EXPECT_EQ(some({})->decode(std::span(apart).subspan(0, 1)), "\uFFFD");
}

TEST(BytePairs, AreReadAsTheyWereWritten) {
  const test::Scratch scratch;
  const auto t = some({{"e", "r"}, {"Ġ", "er"}});
  t->save(scratch.folder(), "target");
  const auto back = load_tokenizer(scratch.folder(), "target");
  EXPECT_EQ(back->kind(), TokenizerKind::byte_pairs);
  EXPECT_EQ(back->size(), t->size());
  EXPECT_EQ(back->encode("her er"), t->encode("her er"));
  test::write_text(scratch / "target.json", R"({"format":"fovea-byte-pairs","version":1,"tokens":[],"merges":[]})");
  EXPECT_THROW((void)load_tokenizer(scratch.folder(), "target"), FileError);
  EXPECT_THROW((void)train_tokenizer({"a"}, {.kind = TokenizerKind::byte_pairs}), UsageError);
}

TEST(BytePairs, FaultsAreNamed) {
  EXPECT_EQ(parse_merges("#version: 0.2\na b\r\n\nc d", "f"), (std::vector<Merge>{{"a", "b"}, {"c", "d"}}));
  for (const char* wrong : {"a", "a b c", " a", "a ", "\xff b"}) {
    EXPECT_THROW((void)parse_merges(wrong, "f"), FileError) << wrong;
  }
  Vocabulary few;
  (void)few.add("a");
  EXPECT_THAT(test::message_of<FileError>([&] { BytePairTokenizer(few, {}, "f"); }),
              testing::HasSubstr("of byte 0 is missing"));
  Vocabulary bytes;
  for (const std::string& token : byte_tokens()) (void)bytes.add(token);
  EXPECT_THAT(test::message_of<FileError>([&] {
                BytePairTokenizer(bytes, {{"a", "b"}}, "f");
              }),
              testing::HasSubstr("the merge of a and b"));
}

TEST(BytePairs, PiecesMakeWords) {
  const Strings given{"he", "r", "Ġca", "t", "Ã", "©", "</s>"};
  const PieceWords made = words_of_pieces(TokenizerKind::byte_pairs, given);
  EXPECT_EQ(made.words, (Strings{"her", "caté", "</s>"}));
  EXPECT_EQ(made.of_piece, (std::vector<std::int32_t>{0, 0, 1, 1, 1, 1, 2}));
}

}  // namespace
}  // namespace fovea::text
