// Word vectors that others have trained: GloVe's and fastText's text files, word2vec's binary ones.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::text {

/// What a file of vectors held.
struct WordVectors {
  std::int64_t words = 0;  // in the file
  std::int64_t width = 0;  // of each vector
};

/// Calls take(word, vector) for every word of the file, in its order; a plain text file may have "count width" as its
/// first line (fastText's .vec) or not (GloVe's), and may be compressed (.gz); a binary one begins with that line
/// (word2vec's .bin). Throws FileError naming the file, the line or word, and what is wrong: a vector of another width,
/// what is no number, a file that ends early.
WordVectors read_word_vectors(const std::string& path,
                              const std::function<void(std::string_view word, std::span<const float> vector)>& take);

/// The same for the bytes of a binary file; `where` begins the errors.
WordVectors read_binary_vectors(std::string_view bytes, const std::string& where,
                                const std::function<void(std::string_view word, std::span<const float> vector)>& take);
/// The same for a line of a text file, into `vector`; gives the word. Throws FileError.
std::string_view parse_vector_line(std::string_view line, const std::string& where, std::vector<float>& vector);

}  // namespace fovea::text
