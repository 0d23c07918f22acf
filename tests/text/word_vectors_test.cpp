// Files of word vectors in all their forms.
#include "text/word_vectors.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <map>

#include "fovea/error.hpp"
#include "support/files.hpp"
#include "support/scratch.hpp"

namespace fovea::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Vectors : public ::testing::Test {
 protected:
  WordVectors read(const std::string& bytes) {
    folder_.write("vectors", bytes);
    words_.clear();
    return read_word_vectors(folder_.path("vectors"), [&](std::string_view word, std::span<const float> vector) {
      words_[std::string(word)].assign(vector.begin(), vector.end());
    });
  }
  std::string error(const std::string& bytes) {
    return fovea::test::message_of<FileError>([&] { (void)read(bytes); });
  }
  static std::string floats(std::initializer_list<float> values) {
    std::string out(values.size() * sizeof(float), '\0');
    std::memcpy(out.data(), values.begin(), out.size());
    return out;
  }

  fovea::test::TemporaryFolder folder_;
  std::map<std::string, std::vector<float>> words_;
};

TEST_F(Vectors, TextWithAndWithoutAFirstLine) {
  const WordVectors glove = read("the 0.5 -1e-3\ncat 2 3\n");
  EXPECT_EQ(glove.words, 2);
  EXPECT_EQ(glove.width, 2);
  EXPECT_THAT(words_["the"], ElementsAre(0.5F, -1e-3F));
  const WordVectors fasttext = read("2 2\nthe 0.5 -1e-3 \ncat 2 3 \n");
  EXPECT_EQ(fasttext.words, 2);
  EXPECT_THAT(words_["cat"], ElementsAre(2, 3));
  (void)read("2 3 4\n5 6 7\n");
  EXPECT_THAT(words_["2"], ElementsAre(3, 4)) << "numbers are words too";
  (void)read(". . . 1 2\n");
  EXPECT_THAT(words_[". . ."], ElementsAre(1, 2)) << "as in GloVe's files";
}

TEST_F(Vectors, Binary) {
  const WordVectors found = read("2 3\n" + std::string("the ") + floats({1, 2, 3}) + "\ncat " + floats({-1, 0, 1e-8F}));
  EXPECT_EQ(found.words, 2);
  EXPECT_THAT(words_["the"], ElementsAre(1, 2, 3));
  EXPECT_THAT(words_["cat"], ElementsAre(-1, 0, 1e-8F));
}

TEST_F(Vectors, WhatIsWrongIsNamed) {
  EXPECT_THAT(error(""), HasSubstr("no vectors"));
  EXPECT_THAT(error("the 1 2\ncat 1\n"), HasSubstr("vectors:2: the vector has 1 numbers, not 2"));
  EXPECT_THAT(error("the 1 2\ncat 1 2 3\n"), HasSubstr("vectors:2: the vector has 3 numbers, not 2"));
  EXPECT_THAT(error("the 1 x\n"), HasSubstr("number 2"));
  EXPECT_THAT(error("the\n"), HasSubstr("not a word and its vector"));
  EXPECT_THAT(error("the 1 nan\n"), HasSubstr("number 2"));
  EXPECT_THAT(error("3 2\nthe 1 2\n"), HasSubstr("says 3 words, 1 are there"));
  EXPECT_THAT(error("9 3\nthe " + floats({1, 2, 3})), HasSubstr("do not fit"));
  EXPECT_THAT(error("2 3\nthe " + floats({1, 2, 3}) + std::string(12, '\0')), HasSubstr("ends within word 2"));
  EXPECT_THAT(error("99999999999999999 3\nthe " + floats({1, 2, 3})), HasSubstr("do not fit"));
}

}  // namespace
}  // namespace fovea::text
