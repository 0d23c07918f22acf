// Several sentences' attention as one.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "server/api/call.hpp"
#include "server/api/numbers.hpp"

namespace fovea::server {

using Matrix = std::vector<std::vector<float>>;

/// Sentences do not look at each other, so most of a long text's attention is zeros; all of them are told. Throws
/// Refusal when that is too many numbers.
inline void check_numbers(std::size_t count) {
  constexpr std::size_t most = 32'000'000;
  if (count > most) {
    throw Refusal(400, fmt::format("Invalid request: the attention has {} numbers, at most {} are told: ask for fewer "
                                   "sentences at a time",
                                   count, most));
  }
}

/// Throws Refusal when the server holds too much already.
inline void take_memory(Lease& memory, std::size_t bytes) {
  if (!memory.grow(bytes)) throw Refusal(503, "Slowdown: too much attention is being written", 2);
}

/// The attention of a whole text: a matrix of blocks, one per sentence. The zeros between them exist only as text. What
/// is added must outlive it.
struct Joined {
  std::vector<std::string> source, target;
  std::vector<const Translation*> sentences;

  void add(const Translation& t) {
    source.insert(source.end(), t.source_tokens.begin(), t.source_tokens.end());
    target.insert(target.end(), t.target_tokens.begin(), t.target_tokens.end());
    sentences.push_back(&t);
  }
  [[nodiscard]] std::size_t numbers() const { return source.size() * target.size(); }
  /// At most so many bytes are `matrices` of them and the tokens as JSON: "0," or, in a block, "0.1234,".
  [[nodiscard]] std::size_t text_bytes(std::size_t matrices) const {
    std::size_t inside = 0;
    for (const Translation* t : sentences) inside += t->source_tokens.size() * t->target_tokens.size();
    std::size_t bytes = 4096 + matrices * (2 * numbers() + 5 * inside + 3 * target.size());
    for (const auto* tokens : {&source, &target}) {
      for (const std::string& token : *tokens) bytes += 3 + 6 * token.size();
    }
    return bytes;
  }
  /// block(i): the weights of sentence i.
  template <class Block>
  void append(std::string& out, const Block& block) const {
    out += '[';
    std::size_t before = 0;
    bool first = true;
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      const std::size_t width = sentences[i]->source_tokens.size();
      for (const auto& row : block(i)) {
        out += first ? "[" : ",[";
        first = false;
        for (std::size_t c = 0; c < before; ++c) out += "0,";
        for (std::size_t c = 0; c < row.size(); ++c) {
          if (c > 0) out += ',';
          append_rounded(out, row[c]);
        }
        for (std::size_t c = before + width; c < source.size(); ++c) out += ",0";
        out += ']';
      }
      before += width;
    }
    out += ']';
  }
  void append_mean(std::string& out) const {
    append(out, [this](std::size_t i) -> const Matrix& { return sentences[i]->weights; });
  }
};

}  // namespace fovea::server
