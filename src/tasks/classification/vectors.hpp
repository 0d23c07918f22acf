// Word vectors from a file as the start of a classifier's table.
#pragma once

#include <string>

#include "fovea/model/config.hpp"
#include "fovea/nn/parameters.hpp"
#include "fovea/text.hpp"

namespace fovea {

/// Writes the vectors of the file into the rows of the words that the vocabulary has, and says how many there were.
/// Throws FileError for a file that cannot be read or has none of the words, UsageError when its vectors are not as
/// wide as the embeddings.
std::string put_vectors(const std::string& file, const Tokenizer& words, const ModelConfig& config,
                        Parameters& parameters);

}  // namespace fovea
