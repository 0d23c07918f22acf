#include "tasks/classification/vectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "fovea/error.hpp"
#include "text/word_vectors.hpp"

namespace fovea {

std::string put_vectors(const std::string& file, const Tokenizer& words, const ModelConfig& config,
                        Parameters& parameters) {
  std::unordered_map<std::string, std::int32_t> wanted;
  for (std::int32_t id = special_ids; id < words.size(); ++id) wanted.emplace(words.piece(id), id);
  const auto vocabulary = wanted.size();
  const Tensor table = parameters.find("source.embedding")->value();
  const std::int64_t width = table.dim(1);
  const float scale = config.tokens().scaled_embeddings ? std::sqrt(static_cast<float>(width)) : 1.0F;
  const text::WordVectors read =
      text::read_word_vectors(file, [&](std::string_view word, std::span<const float> vector) {
        if (static_cast<std::int64_t>(vector.size()) != width) {
          throw UsageError("embedding",
                           fmt::format("{} wide, but {} has vectors of {} numbers", width, file, vector.size()));
        }
        const auto found = wanted.find(std::string(word));
        if (found == wanted.end()) return;
        // What is read is multiplied by the scale again.
        std::transform(vector.begin(), vector.end(), table.data() + found->second * width,
                       [scale](float v) { return v / scale; });
        wanted.erase(found);  // the first of several counts
      });
  if (wanted.size() == vocabulary) throw FileError(fmt::format("{}: has none of the {} words", file, vocabulary));
  return fmt::format("vectors: {} words in the file, {} of {} words of the vocabulary among them, {} not", read.words,
                     vocabulary - wanted.size(), vocabulary, wanted.size());
}

}  // namespace fovea
