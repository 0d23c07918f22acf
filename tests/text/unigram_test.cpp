// The plain models that are followed without SentencePiece, compared with SentencePiece.
#include "text/tokenizer/unigram.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sentencepiece_processor.h>

#include "base/rng.hpp"
#include "fovea/error.hpp"
#include "fovea/text.hpp"
#include "support/files.hpp"
#include "support/scratch.hpp"
#include "text/tokenizer/sentencepiece.hpp"
#include "text/unicode.hpp"

namespace fovea {
namespace {

using test::TemporaryFolder;

std::vector<std::string> training_text() {
  std::vector<std::string> lines;
  Rng rng(3);
  const std::vector<std::string> words{"the",  "cat",  "cats", "scatter", "mat",  "Straße", "größer", "naïve", "猫",
                                       "小猫", "可爱", "的",   "ein",     "eine", "einer",  "a",      "aa",    "aaa"};
  for (int i = 0; i < 400; ++i) {
    std::string line;
    for (std::uint64_t n = 1 + rng.below(9); n > 0; --n)
      line += (line.empty() ? "" : " ") + words[rng.below(words.size())];
    lines.push_back(line);
  }
  return lines;
}

std::string field(int number, std::string_view bytes) {
  std::string out{static_cast<char>(number << 3 | 2)};
  std::size_t size = bytes.size();
  for (; size > 127; size >>= 7) out += static_cast<char>((size & 127) | 128);
  return out + static_cast<char>(size) + std::string(bytes);
}

// A piece with a score that is given in eighths, so that sums tie.
std::string piece(std::string_view text, int eighths, int type = 1) {
  const float score = static_cast<float>(eighths) / 8;
  std::string message = field(1, text);
  message += static_cast<char>(2 << 3 | 5);
  message.append(reinterpret_cast<const char*>(&score), 4);
  message += {static_cast<char>(3 << 3), static_cast<char>(type)};
  return field(1, message);
}

std::string plain_normalizer() {
  return field(3, field(1, "identity"));
}

// Whatever characters, known or not, marks of SentencePiece's own, NUL and bytes that are not UTF-8 among them.
std::string random_line(Rng& rng) {
  static const std::vector<std::string> parts{"a",  "aa", "c",      "t",  "the", "cat", "e",    "i",
                                              "ne", " ",  " ",      "  ", "ß",   "猫",  "小",   "爱",
                                              "ï",  "Ω",  "\u2581", "😀",  "\t",  ".",   "\xE7", "\xFF"};
  std::string line;
  for (std::uint64_t n = rng.below(30); n > 0; --n) line += parts[rng.below(parts.size())];
  if (rng.below(40) == 0) line += '\0';
  return line;
}

// The same ids and pieces as SentencePiece gives, and the same text of ids.
void expect_as_sentencepiece(const std::string& model, std::uint64_t seed) {
  ASSERT_TRUE(text::UnigramModel::read(model).has_value());
  const auto ours = text::parse_sentencepiece(model, "test.model");
  sentencepiece::SentencePieceProcessor theirs;
  ASSERT_TRUE(theirs.LoadFromSerializedProto(model).ok());
  Rng rng(seed);
  for (int i = 0; i < 1500; ++i) {
    const std::string line = random_line(rng);
    std::string spaced;
    for (const auto word : text::split_words(line)) spaced += (spaced.empty() ? "" : " ") + std::string(word);
    std::vector<std::string> pieces, expected;
    std::vector<std::int32_t> ids;
    std::vector<int> wanted;
    ours->encode(line, ids, &pieces);
    ASSERT_TRUE(theirs.Encode(spaced, &expected).ok());
    ASSERT_TRUE(theirs.Encode(spaced, &wanted).ok());
    ASSERT_EQ(pieces, expected) << line;
    ASSERT_EQ(ids.size(), wanted.size());
    std::string text;
    for (std::size_t t = 0; t < ids.size(); ++t) {
      EXPECT_EQ(ours->piece(ids[t]), theirs.IdToPiece(wanted[t]));
    }
    ASSERT_TRUE(theirs.Decode(wanted, &text).ok());
    std::string decoded;
    for (const auto word : text::split_words(text)) decoded += (decoded.empty() ? "" : " ") + std::string(word);
    EXPECT_EQ(ours->decode(ids), decoded);
  }
}

TEST(UnigramModel, SegmentsTrainedModelsAsSentencePieceDoes) {
  const TemporaryFolder folder;
  for (const int vocab : {30, 60, 200}) {
    TokenizerOptions options;
    options.vocab = vocab;
    train_tokenizer(training_text(), options).tokenizer->save(folder.path(), "t");
    expect_as_sentencepiece(folder.read("t.model"), static_cast<std::uint64_t>(vocab));
  }
}

TEST(UnigramModel, DecidesTiesAsSentencePieceDoes) {
  for (int round = 0; round < 8; ++round) {
    Rng rng(static_cast<std::uint64_t>(round) + 11);
    std::string model = piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 3);
    for (const char* text :
         {"\u2581", "a", "aa", "aaa", "aaaa", "\u2581a", "\u2581aa", "c",    "ca",   "at", "cat", "\u2581the",
          "t",      "h", "e",  "he",  "ine",  "n",       "猫",       "小猫", "猫小", "爱", "ß"}) {
      model += piece(text, -static_cast<int>(rng.below(round < 4 ? 4 : 40)));
    }
    expect_as_sentencepiece(model + plain_normalizer(), static_cast<std::uint64_t>(round));
  }
}

// Scores above zero, so that it matters how much an unknown character costs.
TEST(UnigramModel, CountsUnknownCharactersAsSentencePieceDoes) {
  std::string model = piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 3) + piece("\u2581", 0);
  model += piece("a", 40) + piece("c", 76) + piece("t", 84) + piece("Ωa", -8) + piece("Ωc", -8) + piece("Ωt", -8);
  expect_as_sentencepiece(model + plain_normalizer(), 5);
}

TEST(UnigramModel, LeavesOtherModelsToSentencePiece) {
  const std::string pieces = piece("<unk>", 0, 2) + piece("a", -8);
  const auto plain = [](const std::string& model) { return text::UnigramModel::read(model).has_value(); };
  const auto number = [](int field, int value) {  // a field of the trainer or the normaliser, below 16 or above
    std::string out;
    if (field >= 16) {
      out = {static_cast<char>((field << 3 & 0x7F) | 0x80), static_cast<char>(field >> 4)};
    } else {
      out = {static_cast<char>(field << 3)};
    }
    return out + static_cast<char>(value);
  };
  EXPECT_TRUE(plain(pieces + plain_normalizer()));
  EXPECT_TRUE(plain(pieces + field(2, number(3, 1))));
  EXPECT_FALSE(plain(pieces + field(2, number(3, 2)))) << "byte pairs";
  EXPECT_FALSE(plain(pieces + field(2, number(24, 1)))) << "spaces behind words";
  EXPECT_FALSE(plain(pieces + field(2, number(35, 1)))) << "bytes";
  for (const int option : {3, 4, 5}) EXPECT_FALSE(plain(pieces + field(3, number(option, 0)))) << option;
  EXPECT_FALSE(plain(pieces + field(3, field(2, "x")))) << "a map of characters";
  EXPECT_FALSE(plain(pieces + field(5, field(2, "x")))) << "a map of characters for the output";
  EXPECT_FALSE(plain(pieces + piece("own", 0, 4))) << "a symbol of the user's own";
  EXPECT_FALSE(plain(pieces + piece("a", -9))) << "twice";
  EXPECT_FALSE(plain(pieces + piece("<unk2>", 0, 2))) << "two unknown";
  EXPECT_FALSE(plain(piece("a", -8))) << "none unknown";
}

// A trie of the one key "a", whose text is `text`; see sentencepiece_check.cpp.
std::string character_map(const std::string& text) {
  std::vector<std::uint32_t> units(1024);
  units[0] = 256U << 10;
  units[256U ^ 'a'] = 512U << 10 | 1U << 8 | 'a';
  units[256U ^ 'a' ^ 512U] = 1U << 31;
  const auto size = static_cast<std::uint32_t>(units.size() * 4);
  std::string map(reinterpret_cast<const char*>(&size), 4);
  map.append(reinterpret_cast<const char*>(units.data()), size);
  return map + text + '\0';
}

TEST(UnigramModel, ACharacterThatBecomesALongTextIsRefused) {
  const auto model = [](std::size_t length) {
    return piece("<unk>", 0, 2) + piece("b", -8) + field(3, field(2, character_map(std::string(length, 'b'))));
  };
  const auto tokenizer = text::parse_sentencepiece(model(256), "test.model");
  EXPECT_GE(tokenizer->encode("aa").size(), 512U);
  EXPECT_THAT(test::message_of<FileError>([&] { (void)text::parse_sentencepiece(model(257), "test.model"); }),
              testing::HasSubstr("the character map makes more than 256 bytes of a character"));
}

TEST(UnigramModel, OptionsOfTheTrainingThatCannotBeReadAreRefused) {
  const std::string model = piece("<unk>", 0, 2) + piece("a", -8) + field(2, "\x07");
  EXPECT_THAT(test::message_of<FileError>([&] { (void)text::parse_sentencepiece(model, "test.model"); }),
              testing::HasSubstr("test.model: not a SentencePiece model: a field of no known type"));
}

}  // namespace
}  // namespace fovea
